// @ts-check
/** Reads the fields of a form. */

/**
 * Returns the fields of a submitted form. The browser does not send it.
 * @param {Event} event
 */
export function submitted(event) {
  event.preventDefault();
  return new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
}

/**
 * Returns the text of a field without blanks around it.
 * @param {FormData} given
 * @param {string} name
 */
export function textOf(given, name) {
  return String(given.get(name) ?? '').trim();
}

/**
 * Returns a typed phone number without the signs between its digits.
 * @param {string} typed
 */
export function withoutSigns(typed) {
  return typed.replaceAll(/[\s().-]/g, '');
}
