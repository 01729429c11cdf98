/** The text of a batch: the recipient's field replaces `{{name}}`. A name is any text on one line without braces. */
const FIELD = /\{\{([^{}\r\n]*)\}\}/g;
/** Most characters of a field's name. */
export const LONGEST_NAME = 64;

/**
 * Most UTF-16 units of a field's name: a character of NFC is written with six at most. To normalise thousands of
 * accents on one letter would take a second.
 */
const MOST_UNITS = 6 * LONGEST_NAME;

/** True if a text can name the field: 1 to 64 characters in NFC on one line, without braces. */
export function isFieldName(name: string): boolean {
  if (name === '' || name.length > MOST_UNITS || /[{}\r\n]/.test(name)) return false;
  return [...name.normalize('NFC')].length <= LONGEST_NAME;
}

/** Returns the names of the fields in a text, with the number of their uses. */
export function fieldUses(text: string): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const [, between = ''] of text.matchAll(FIELD)) {
    const name = between.trim();
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  return uses;
}

/** Returns the text before the first field, that field's name, the text before the next one, and so on. */
export function textParts(text: string): readonly string[] {
  return text.split(FIELD).map((part, index) => (index % 2 === 0 ? part : part.trim()));
}

/** Returns a text without its fields. */
export function withoutFields(text: string): string {
  return text.replaceAll(FIELD, '');
}

/**
 * Returns what is wrong with the fields of a text, or undefined if nothing is. Without this check a mistyped field
 * would be sent to everyone as it is written.
 */
export function batchTextProblem(text: string): string | undefined {
  // Other templates have three braces around a field. Each person would get one of them on each side of the value.
  if (text.includes('{{{')) return 'must not have {{{: a field is written {{name}}';
  if (![...fieldUses(text).keys()].every(isFieldName))
    return `must have 1 to ${LONGEST_NAME} characters between {{ and }}`;
  return withoutFields(text).includes('{{') ? 'must close each {{ with }} on the same line' : undefined;
}

/**
 * Returns a function that finds the value of a field by its name, or undefined if there is none. Two names are the same
 * if they agree in Unicode's NFC: an accent may be part of its letter, or follow it. A name written exactly so comes
 * first. Each name is normalised once, because one body may have thousands.
 */
export function fieldsByName(
  fields: Readonly<Record<string, string>> = {},
): (name: string) => string | undefined {
  let otherNames: Map<string, string> | undefined;
  return (name) => {
    if (Object.hasOwn(fields, name)) return fields[name];
    otherNames ??= inNfc(fields);
    const value = otherNames.get(name) ?? otherNames.get(name.normalize('NFC'));
    if (value !== undefined) otherNames.set(name, value);
    return value;
  };
}

/** Returns the fields by their names in NFC; the first one counts. A name that is too long for a text is left out. */
function inNfc(fields: Readonly<Record<string, string>>): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(fields)) {
    if (name.length > MOST_UNITS) continue;
    const composedName = name.normalize('NFC');
    if (!values.has(composedName)) values.set(composedName, value);
  }
  return values;
}

/** Returns the text with a recipient's fields filled in. Filled-in values are not searched again. */
export function filledText(text: string, fieldOf: (name: string) => string | undefined): string {
  return text.replaceAll(FIELD, (whole, inner: string) => fieldOf(inner.trim()) ?? whole);
}
