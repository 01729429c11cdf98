/** Yields a list in parts of `size`, for steps and writes that are bounded. */
export function* partsOf<Item>(list: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < list.length; start += size) yield list.slice(start, start + size);
}
