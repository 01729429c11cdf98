// @ts-check
/** What a list is narrowed by. The choice stands in the address, so that it can be kept and passed on. */
import { html, useEffect, useRef } from '/console/preact.js';
import { address } from './route.js';

/** @param {{ place: string, children?: unknown }} props `place` is the path of the list's page */
export function Filters({ place, children }) {
  const choose = (/** @type {Event} */ event) => {
    event.preventDefault();
    // A field that is left together with its page tells of its change as well; nobody is called back for that.
    if (location.hash.slice(1).split('?')[0] !== place) return;
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const values = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()]);
    location.replace(address(place, Object.fromEntries(values)));
  };
  return html`<form class="filters" onChange=${choose} onSubmit=${choose}>${children}</form>`;
}

/**
 * A field that shows what is chosen, and keeps what is being typed while the page is drawn anew.
 * @param {{ value: string, [name: string]: unknown }} props
 */
export function FilterField({ value, ...attributes }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  return html`<input ref=${field} ...${attributes} />`;
}
