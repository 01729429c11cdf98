const texts = new WeakMap<object, string>();

/** JSON of a value that never changes, written once and remembered for as long as the value lives. */
export function rememberedJson(value: object): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}
