const texts = new WeakMap<object, string>();

/** The JSON of a value that `rememberedJson` was asked for; undefined for any other. */
export function knownJson(value: object): string | undefined {
  return texts.get(value);
}

/** JSON of a value that never changes, written once and remembered for as long as the value lives. */
export function rememberedJson(value: object): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}
