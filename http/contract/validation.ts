import * as v from 'valibot';
import type { FieldProblem } from '../../actors/failure.ts';

/** Most problems that a reply lists, so that the reply to an invalid body is not larger than the body. */
export const MOST_REPORTED_FIELDS = 50;

/** Most UTF-16 units of a field's path in a reply. A field name of the caller may be as long as the whole body. */
const MOST_FIELD_UNITS = 128;

/** A valid value, or its problems, at most `MOST_REPORTED_FIELDS`. */
export type ValidationResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fields: readonly FieldProblem[] };

/**
 * Checks a value against a schema and names the offending fields by their dotted paths, at most `MOST_REPORTED_FIELDS`.
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  input: unknown,
  root: string,
): ValidationResult<v.InferOutput<Schema>> {
  // Like `safeParse`, without the result object that it would create.
  const { value, issues } = schema['~run']({ value: input }, v.getGlobalConfig());
  if (issues === undefined) return { ok: true, value: value as v.InferOutput<Schema> };
  return {
    ok: false,
    fields: issues.slice(0, MOST_REPORTED_FIELDS).map((issue) => fieldProblem(issue, root)),
  };
}

/** Returns a problem with one field. A field's path is cut to 128 characters. */
export function problem(field: string, message: string): FieldProblem {
  const isLong = field.length > MOST_FIELD_UNITS;
  return {
    field: isLong ? `${field.slice(0, MOST_FIELD_UNITS).replace(/[\ud800-\udbff]$/, '')}…` : field,
    message,
  };
}

function fieldProblem(issue: v.BaseIssue<unknown>, root: string): FieldProblem {
  return problem(v.getDotPath(issue) ?? root, describeIssue(issue));
}

/** Returns a message that says what to send. Valibot's own messages speak of keys and types. */
function describeIssue(issue: v.BaseIssue<unknown>): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return 'is not a known property';
  if (issue.type === 'strict_object' && issue.path?.at(-1)?.origin === 'key') return 'is required';
  if (issue.type === 'strict_object' || issue.type === 'record') return 'must be an object';
  if (issue.type === 'picklist' || issue.type === 'literal')
    return `must be one of: ${listExpected(issue.expected)}`;
  if (issue.kind === 'schema') return `must be ${article(issue.type)}`;
  return issue.message;
}

function listExpected(expected: string | null): string {
  return (expected ?? '').replace(/[()"]/g, '').replaceAll(' | ', ', ');
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}
