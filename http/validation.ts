import * as v from 'valibot';
import type { FieldProblem } from '../actors/failure.ts';

/** A value that fits, or all that is wrong with it. */
export type Validated<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fields: readonly FieldProblem[] };

/** Checks a value against a schema and names every offending field by its dotted path. */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  root: string,
): Validated<v.InferOutput<Schema>> {
  const result = v.safeParse(schema, input);
  if (result.success) return { ok: true, value: result.output };
  return { ok: false, fields: result.issues.map((issue) => fieldProblem(issue, root)) };
}

/** One field and what is wrong with it. */
export function problem(field: string, message: string): FieldProblem {
  return { field, message };
}

function fieldProblem(issue: v.BaseIssue<unknown>, root: string): FieldProblem {
  return problem(v.getDotPath(issue) ?? root, words(issue));
}

/** Valibot's own words talk of keys and types; a caller wants to know what to send instead. */
function words(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a known property';
  if (issue.type === 'strict_object' && issue.path?.at(-1)?.origin === 'key') return 'is required';
  if (issue.type === 'strict_object') return 'must be an object';
  if (issue.type === 'picklist' || issue.type === 'literal')
    return `must be one of: ${listed(issue.expected)}`;
  if (issue.kind === 'schema') return `must be ${article(issue.type)}`;
  return issue.message;
}

function listed(expected: string | null): string {
  return (expected ?? '').replace(/[()"]/g, '').replaceAll(' | ', ', ');
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
