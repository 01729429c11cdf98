/** Reads a hash by its fields from the flat list of fields and values that `HGETALL` answers. */
export function hashFields(flat: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2)
    fields.set(flat[index] ?? '', flat[index + 1] ?? '');
  return fields;
}
