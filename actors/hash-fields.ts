/** Reads a hash by its fields from the flat list of fields and values that `HGETALL` answers. */
export function hashFields(pairs: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < pairs.length; index += 2)
    fields.set(pairs[index] ?? '', pairs[index + 1] ?? '');
  return fields;
}
