import * as v from 'valibot';
import { refusedInput, resultOfParts } from './schema-results.ts';
import { MOST_REPORTED_FIELDS } from './validation.ts';

/**
 * Returns the schema of an array that is validated only as far as the reply needs it. An array with more than `max`
 * items is not validated at all, and validation stops after `MOST_REPORTED_FIELDS` problems. A body of 64 KiB can
 * contain 20,000 empty objects, and validating them all would take 30 ms of the event loop. With `isCut`, items beyond
 * `max` are dropped instead of refused. Use it if the handler refuses a smaller number with its own code.
 */
export function boundedArray<const Item extends v.GenericSchema>(
  item: Item,
  { max, isCut = false }: { readonly max: number; readonly isCut?: boolean },
): v.ArraySchema<Item, undefined> {
  const schema = v.array(item);
  const run = schema['~run'];
  const tooLong = v.maxLength<unknown[], number, string>(max, `must have at most ${max} items`);
  return Object.assign(schema, {
    '~run'(dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) {
      const input = dataset.value;
      if (!Array.isArray(input)) return run.call(schema, dataset, config);
      if (input.length > max && !isCut) return refusedInput(tooLong, 'length', dataset, config);
      return runItems(item, { input, max }, config);
    },
  });
}

/** Validates items like valibot's own array, until enough problems were found. */
function runItems<Item extends v.GenericSchema>(
  item: Item,
  { input, max }: { readonly input: unknown[]; readonly max: number },
  config: v.Config<v.BaseIssue<unknown>>,
) {
  const values: unknown[] = [];
  const issues: v.BaseIssue<unknown>[] = [];
  for (const [key, value] of input.slice(0, max).entries()) {
    const result = item['~run']({ value }, config);
    values.push(result.value);
    for (const issue of result.issues ?? []) {
      const pathItem: v.ArrayPathItem = { type: 'array', origin: 'value', input, key, value };
      issues.push({ ...issue, path: [pathItem, ...(issue.path ?? [])] });
    }
    if (issues.length >= MOST_REPORTED_FIELDS) break;
  }
  return resultOfParts(values, issues);
}
