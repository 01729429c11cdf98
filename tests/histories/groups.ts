/** Values by name; each value once, unless `repeats`. */
export function groups<Item, Value>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  pick: (item: Item) => Value,
  repeats = false,
): Map<string, Value[]> {
  const found = new Map<string, Value[]>();
  for (const item of items) {
    const values = found.get(nameOf(item)) ?? [];
    if (repeats || !values.includes(pick(item))) values.push(pick(item));
    found.set(nameOf(item), values);
  }
  return found;
}

/** Returns the names that have more than one value, with their values. */
export function several<Value>(values: ReadonlyMap<string, Value[]>): [string, Value[]][] {
  return [...values].filter(([, found]) => found.length > 1);
}
