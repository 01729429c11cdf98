import { MESSAGE_TEXT_LIMIT, refuseFittingContent } from '../../../../policy/content-rules.ts';
import type { ContentPolicyCode } from '../../../../policy/refusal.ts';
import type { FieldProblem } from '../../../failure.ts';
import { type BatchContent, numberField } from '../../state/batches.ts';
import {
  batchTextProblem,
  fieldsByName,
  fieldUses,
  isFieldName,
  LONGEST_NAME,
  textParts,
  withoutFields,
} from '../../texts/batch-text.ts';
import type { KnownRecipient } from './batch-facts.ts';

/** Problems that one answer names at most. */
export const MOST_PROBLEMS = 20;

const WRONG_NAME = `must have 1 to ${LONGEST_NAME} characters on one line, and no braces, in its name`;

/** The problem of a recipient's fields, by the code with which the policy refuses the text that they make. */
const CONTENT_PROBLEMS: { readonly [Code in ContentPolicyCode]: string } = {
  EMPTY_MESSAGE: 'must not leave a text without a visible character',
};

/** Returns the problem of a new batch's text, or those of its recipients if there is none. */
export function batchProblems(
  recipients: readonly KnownRecipient[],
  content: Pick<BatchContent, 'text' | 'mediaUrl'>,
): FieldProblem[] {
  const message = batchTextProblem(content.text ?? '');
  return message === undefined ? recipientProblems(recipients, content) : [{ field: 'text', message }];
}

/**
 * Returns the problems of recipients. A number must be new in the batch, and an idempotency key new in the call. A text
 * must be able to have the name of each field. No field may be missing. The filled text must not be too long, and the
 * policy must not refuse it.
 */
export function recipientProblems(
  recipients: readonly KnownRecipient[],
  content: Pick<BatchContent, 'text' | 'mediaUrl'>,
): FieldProblem[] {
  const outline = outlineOf(content.text ?? '');
  const names = [...outline.uses.keys()];
  const seenNumbers = new Set<string>();
  const keys = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const [index, { recipient, isThere }] of recipients.entries()) {
    const { to, fields = {}, idempotencyKey } = recipient;
    const field = `recipients.${index}`;
    const number = numberField(to);
    if (isThere || seenNumbers.has(number))
      problems.push({ field: `${field}.to`, message: 'is in the batch already' });
    seenNumbers.add(number);
    // The second one would count as repeated, and get nothing.
    if (idempotencyKey !== undefined && keys.has(idempotencyKey))
      problems.push({ field: `${field}.idempotencyKey`, message: 'is that of another recipient' });
    if (idempotencyKey !== undefined) keys.add(idempotencyKey);
    for (const name of Object.keys(fields).filter((name) => !isFieldName(name)))
      problems.push({ field: `${field}.fields.${shortName(name)}`, message: WRONG_NAME });
    const fieldOf = fieldsByName(fields);
    const missingNames = names.filter((name) => fieldOf(name) === undefined);
    for (const name of missingNames)
      problems.push({ field: `${field}.fields.${name}`, message: `is required: the text uses {{${name}}}` });
    const problem = missingNames.length > 0 ? undefined : textProblem(content, outline, fieldOf);
    if (problem !== undefined) problems.push({ field: `${field}.fields`, message: problem });
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems;
}

/** A name may be as long as a body, and an answer stays short. */
function shortName(name: string): string {
  return [...name].slice(0, LONGEST_NAME).join('');
}

/** The part of the recipients' texts that is the same for all. */
interface Outline {
  /** The names of the fields, with the number of their uses. */
  readonly uses: ReadonlyMap<string, number>;
  /** The number of characters outside of the fields. */
  readonly length: number;
  readonly parts: ReturnType<typeof textParts>;
}

function outlineOf(text: string): Outline {
  return { uses: fieldUses(text), length: charactersOf(withoutFields(text)), parts: textParts(text) };
}

/**
 * Returns what is wrong with the text that these fields make; undefined: nothing, or there is no text. Its characters
 * are counted before it is filled in. It may use a field 800 times, and a call has 1,000 recipients, so texts over the
 * limit would hold the event loop for long.
 */
function textProblem(
  { text, mediaUrl }: Pick<BatchContent, 'text' | 'mediaUrl'>,
  outline: Outline,
  fieldOf: (name: string) => string | undefined,
): string | undefined {
  if (text === undefined) return undefined;
  let { length } = outline;
  const values = new Map<string, string>();
  for (const [name, times] of outline.uses) {
    const value = fieldOf(name) ?? '';
    length += times * charactersOf(value);
    values.set(name, value);
  }
  if (length > MESSAGE_TEXT_LIMIT)
    return `must not make the text longer than ${MESSAGE_TEXT_LIMIT} characters`;
  const filled = outline.parts.map((part, index) => (index % 2 === 0 ? part : values.get(part))).join('');
  const refusal = refuseFittingContent(filled, mediaUrl);
  return refusal === undefined ? undefined : CONTENT_PROBLEMS[refusal.code];
}

function charactersOf(text: string): number {
  return [...text].length;
}
