/** Returns a value for the map of a tenant's people: the id of an address, and the day on which it last counted. */
export function personEntry(id: string, day: number): string {
  return `${id} ${day}`;
}

/** Returns the id that an entry leads to. */
export function personIdIn(entry: string): string {
  return entry.split(' ', 1)[0] ?? '';
}

const MERGED = 'merged ';

/** Returns the field that names the id which replaced another. */
export function mergedField(id: string): string {
  return MERGED + id;
}

/** Returns the replaced id; undefined if the field is an address's. */
export function mergedIdIn(field: string): string | undefined {
  return field.startsWith(MERGED) ? field.slice(MERGED.length) : undefined;
}
