import * as v from 'valibot';
import { isGroupAddress, phoneDigits } from '../socket/addresses.ts';
import { ControlFailure } from './control-failure.ts';

/** The fields that a caller gives, without the named parts of the path. */
export type GivenFields<Entries extends v.ObjectEntries, InPath extends keyof Entries = never> = Omit<
  v.InferInput<v.ObjectSchema<Entries, undefined>>,
  InPath
>;

/**
 * Returns the schema of a value that `readValue` understands. Any other value is refused with `message`. The type of
 * what callers should give is `From`.
 */
function readBy<From, Value>(readValue: (value: unknown) => Value | undefined, message: string) {
  const schema = v.pipe(
    v.unknown(),
    v.rawTransform<unknown, Value>(({ dataset, addIssue, NEVER }) => {
      const value = readValue(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message });
      return NEVER;
    }),
  );
  return schema as v.GenericSchema<unknown, Value> as v.GenericSchema<From, Value>;
}

const groupOf = (value: unknown): string | undefined =>
  typeof value === 'string' && isGroupAddress(value) && /^[\d-]{1,60}@g\.us$/.test(value) ? value : undefined;

/** A phone number. Its value has digits only. */
export const phone = readBy<string, string>(phoneDigits, 'must be a phone number: + and 7 to 15 digits');

export const groupId = readBy<string, string>(
  groupOf,
  'must be a group id: digits and dashes, ending in @g.us',
);

/** A phone number's digits or a group's id. */
export const phoneOrGroup = readBy<string, string>(
  (value) => groupOf(value) ?? phoneDigits(value),
  'must be a phone number or a group id ending in @g.us',
);

/** A list of phone numbers, without repetitions. */
export const phones = v.pipe(
  v.array(phone, 'must be a list of phone numbers'),
  v.transform((digits) => [...new Set(digits)]),
) as v.GenericSchema<unknown, string[]> as v.GenericSchema<readonly string[], string[]>;

export const flag = v.boolean('must be true or false');

/** A text of 1 to `most` characters. */
export function text(most: number) {
  const message = `must be text of 1 to ${most} characters`;
  return v.pipe(v.string(message), v.minLength(1, message), v.maxLength(most, message));
}

/** An object of texts by name. */
export function texts(most: number) {
  const message = `must be an object of texts of at most ${most} characters`;
  return v.record(v.string(), v.pipe(v.string(message), v.maxLength(most, message)), message);
}

/** A whole number. In a query it comes as text. */
export function wholeNumber(least: number, most: number) {
  return readBy<number, number>((value) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    const isWhole = typeof number === 'number' && Number.isInteger(number);
    return isWhole && number >= least && number <= most ? number : undefined;
  }, `must be a whole number from ${least} to ${most}`);
}

export const oneOf = <const Choices extends readonly string[]>(choices: Choices) =>
  v.picklist(choices, `must be one of ${choices.join(', ')}`);

/** Returns a refusal that names one field. */
export const refuseField = (field: string, message: string): ControlFailure =>
  new ControlFailure(422, 'VALIDATION_ERROR', `${field} ${message}`, [{ field, message }]);

/**
 * Returns the values of `entries` in a request. The path's named parts come before the query's or the body's fields.
 * Throws `ControlFailure` 422 that names every bad and every unknown field.
 */
export function readInput<Entries extends v.ObjectEntries>(
  entries: Entries,
  path: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, unknown>>,
): v.InferOutput<v.ObjectSchema<Entries, undefined>> {
  const allFields = Object.fromEntries(
    Object.keys(entries).map((field) => [field, path[field] ?? fields[field]]),
  );
  const { success, output, issues = [] } = v.safeParse(v.object(entries), allFields);
  const unknownFields = Object.keys(fields).filter((field) => !(field in entries) || field in path);
  if (success && unknownFields.length === 0) return output;
  const problems = [
    ...issues.map((issue) => ({ field: v.getDotPath(issue) ?? '', message: issue.message })),
    ...unknownFields.map((field) => ({ field, message: 'is not known here' })),
  ];
  const summary = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new ControlFailure(422, 'VALIDATION_ERROR', summary, problems);
}
