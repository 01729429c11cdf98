import * as v from 'valibot';
import { refusedInput, resultOfParts } from './schema-results.ts';

/** An object with more properties is refused without reading them. No object of the API has a quarter as many. */
const MOST_PROPERTIES = 64;
const TOO_MANY = v.maxEntries<Record<string, unknown>, number, string>(
  MOST_PROPERTIES,
  `must have at most ${MOST_PROPERTIES} properties`,
);

/**
 * Returns the schema of an object that takes no property besides its own (docs/contract.md, Endpoints: unknown
 * properties are refused). Valibot's strictObject names the first unknown property only, and takes an array for an
 * object; a caller gets all of them at once. One with more than 64 properties is refused as a whole.
 */
export function closedObject<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const schema = v.strictObject(entries);
  const run = schema['~run'];
  return Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      const input = dataset.value;
      if (Array.isArray(input)) {
        dataset.value = undefined;
      } else if (isCrowded(input)) {
        return refusedInput(TOO_MANY, 'properties', dataset, config);
      }
      const result = run.call(schema, dataset, config);
      if (result.issues === undefined || input === null || typeof input !== 'object') return result;
      const unknownKeys = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
      for (const key of unknownKeys.slice(1)) {
        v._addIssue(schema, 'key', result as never, config, {
          input: key,
          expected: 'never',
          path: [
            { type: 'object', origin: 'key', input: input as Record<string, unknown>, key, value: undefined },
          ],
        });
      }
      return result;
    },
  });
}

/**
 * Returns the schema of an object with names of the caller's choice and values of one schema. Valibot's `record` leaves
 * out `constructor` and two other names without a word; here each name is an own property of the result. An object with
 * more than 64 properties is refused as a whole, before its values are validated (docs/contract.md, Input bounds).
 */
export function boundedRecord<const Value extends v.GenericSchema>(value: Value) {
  const schema = v.record(v.string(), value);
  const boundedSchema = Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      const input = dataset.value;
      if (typeof input !== 'object' || input === null || Array.isArray(input))
        return refusedInput(schema, 'type', dataset, config);
      if (isCrowded(input)) return refusedInput(TOO_MANY, 'properties', dataset, config);
      const issues: v.BaseIssue<unknown>[] = [];
      const entries = Object.entries(input as Record<string, unknown>).map(([key, givenValue]) => {
        const result = value['~run']({ value: givenValue }, config);
        const pathItem = { input: input as Record<string, unknown>, key, value: givenValue };
        for (const issue of result.issues ?? []) {
          issues.push({
            ...issue,
            path: [{ type: 'object', origin: 'value', ...pathItem }, ...(issue.path ?? [])],
          });
        }
        return [key, result.value];
      });
      return resultOfParts(Object.fromEntries(entries), issues);
    },
  });
  return v.pipe(boundedSchema, v.metadata({ maxProperties: MOST_PROPERTIES }));
}

function isCrowded(input: unknown): boolean {
  if (input === null || typeof input !== 'object') return false;
  let count = 0;
  for (const _ in input) {
    count += 1;
    if (count > MOST_PROPERTIES) return true;
  }
  return false;
}
