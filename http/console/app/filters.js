// @ts-check
/** Filters of a list. The address contains the choice, so it can be bookmarked and shared. */
import { html, useEffect, useRef } from '/console/preact.js';
import { submitted, textOf } from './form.js';
import { address } from './route.js';

/** @param {{ place: string, children?: unknown }} props `place` is the path of the list's page */
export function Filters({ place, children }) {
  const choose = (/** @type {Event} */ event) => {
    const given = submitted(event);
    // A field also reports its change when the operator leaves the page. Then the address must not change.
    if (location.hash.slice(1).split('?')[0] !== place) return;
    const values = [...given.keys()].map((name) => [name, textOf(given, name)]);
    location.replace(address(place, Object.fromEntries(values)));
  };
  return html`<form class="filters" onChange=${choose} onSubmit=${choose}>${children}</form>`;
}

/**
 * Shows the chosen value, and keeps unfinished input while the page is redrawn.
 * @param {{ value: string, [name: string]: unknown }} props
 */
export function FilterField({ value, ...attributes }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  return html`<input ref=${field} ...${attributes} />`;
}
