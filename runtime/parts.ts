/** Yields a list in parts of `size`, for steps and writes that are bounded. */
export function* partsOf<Item>(list: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}
