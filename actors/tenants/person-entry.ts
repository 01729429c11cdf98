/** Written in the map of a tenant's people: whose an address is, and the day on which that last counted. */
export function personEntry(id: string, day: number): string {
  return `${id} ${day}`;
}

/** The id that an entry leads to. */
export function personIdIn(entry: string): string {
  return entry.split(' ', 1)[0] ?? '';
}

const MERGED = 'merged ';

/** The field that says which id took the place of another. */
export function mergedField(id: string): string {
  return MERGED + id;
}

/** The id whose place another took; undefined where the field is an address's. */
export function mergedIdIn(field: string): string | undefined {
  return field.startsWith(MERGED) ? field.slice(MERGED.length) : undefined;
}
