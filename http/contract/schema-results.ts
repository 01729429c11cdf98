import * as v from 'valibot';

/**
 * Refuses an input with one problem, and returns the result of the schema's `~run`. `requirement` is the schema or the
 * check that fails. The types of valibot's own function fit only schemas of valibot.
 */
export function refusedInput(
  requirement: { readonly type: string },
  label: string,
  dataset: v.UnknownDataset,
  config: v.Config<v.BaseIssue<unknown>>,
): never {
  v._addIssue(requirement as never, label, dataset, config);
  return dataset as never;
}

/** Returns the result of a schema's `~run` for the values of several parts, and the problems that they have. */
export function resultOfParts(value: unknown, issues: readonly v.BaseIssue<unknown>[]): never {
  return (issues.length === 0 ? { typed: true, value } : { typed: false, value, issues }) as never;
}
