import { MESSAGE_TEXT_LIMIT } from '../../../../policy/message-content.ts';
import type { FieldProblem } from '../../../failure.ts';
import { fieldNames, filledText } from '../../state/batch-text.ts';
import { numberField } from '../../state/batches.ts';
import type { KnownRecipient } from './batch-facts.ts';

/** Problems that one answer names at most. */
export const MOST_PROBLEMS = 20;

/** Returns the problems of recipients: a duplicate, a missing field, or a filled text that is empty or too long. */
export function recipientProblems(
  recipients: readonly KnownRecipient[],
  text: string | undefined,
): FieldProblem[] {
  const names = text === undefined ? [] : fieldNames(text);
  const seen = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const [index, { recipient, isThere }] of recipients.entries()) {
    const { to, fields = {} } = recipient;
    const number = numberField(to);
    if (isThere || seen.has(number)) {
      problems.push({ field: `recipients.${index}.to`, message: 'is in the batch already' });
    }
    seen.add(number);
    const missing = names.filter((name) => !Object.hasOwn(fields, name));
    for (const name of missing) {
      problems.push({ field: `recipients.${index}.fields.${name}`, message: 'is missing: the text has it' });
    }
    const filled = text === undefined || missing.length > 0 ? undefined : filledText(text, fields);
    if (filled !== undefined && [...filled].length > MESSAGE_TEXT_LIMIT) {
      problems.push({
        field: `recipients.${index}.fields`,
        message: `make the text longer than ${MESSAGE_TEXT_LIMIT} characters`,
      });
    }
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems;
}
