/** The text of a batch: the recipient's field replaces `{{name}}`. A name is any text on one line without braces. */
const FIELD = /\{\{([^{}\r\n]*)\}\}/g;
/** Most characters of a field's name. */
export const LONGEST_NAME = 64;

/** True if a text can name the field: 1 to 64 characters on one line, without braces. */
export function isFieldName(name: string): boolean {
  return name !== '' && [...name].length <= LONGEST_NAME && !/[{}\r\n]/.test(name);
}

/** The names of the fields in a text, each once. */
export function fieldNames(text: string): readonly string[] {
  return [...new Set([...text.matchAll(FIELD)].map(([, name = '']) => name.trim()))];
}

/**
 * Returns what is wrong with the fields of a text, or undefined if nothing is. Without this check a mistyped field would
 * be sent to everyone as it is written.
 */
export function batchTextProblem(text: string): string | undefined {
  // Other templates have three braces around a field. Each person would get one of them on each side of the value.
  if (text.includes('{{{')) return 'must not have {{{: a field is written {{name}}';
  if (!fieldNames(text).every(isFieldName))
    return `must have 1 to ${LONGEST_NAME} characters between {{ and }}`;
  return text.replaceAll(FIELD, '').includes('{{')
    ? 'must close each {{ with }} on the same line'
    : undefined;
}

/**
 * Returns the value of the field with this name, or undefined if there is none. Two names are the same if they agree in
 * Unicode's NFC: an accent may be part of its letter, or follow it. A name written exactly so comes first.
 */
export function fieldValue(fields: Readonly<Record<string, string>>, name: string): string | undefined {
  if (Object.hasOwn(fields, name)) return fields[name];
  const composed = name.normalize('NFC');
  const alike = Object.keys(fields).find((each) => each.normalize('NFC') === composed);
  return alike === undefined ? undefined : fields[alike];
}

/** Returns the text with a recipient's fields filled in. Filled-in values are not searched again. */
export function filledText(text: string, fields: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(FIELD, (whole, between: string) => fieldValue(fields, between.trim()) ?? whole);
}
