/** The text of a batch: the recipient's field replaces `{{name}}`. */
const FIELD = /\{\{\s*([A-Za-z0-9_]{1,32})\s*\}\}/g;

/** The names of the fields in a text, each once. */
export function fieldNames(text: string): readonly string[] {
  return [...new Set([...text.matchAll(FIELD)].map(([, name = '']) => name))];
}

/** Returns the text with a recipient's fields filled in. Filled-in values are not searched again. */
export function filledText(text: string, fields: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(FIELD, (whole, name: string) =>
    Object.hasOwn(fields, name) ? (fields[name] ?? '') : whole,
  );
}
