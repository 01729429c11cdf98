// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { Dialog, Failure } from '../parts.js';

/**
 * Asks before something that cannot be undone.
 * @param {{ title: string, label: string, typed?: string, work: () => Promise<unknown>, onClose: () => void, children?: unknown }} props
 *   `label`: of the button; `typed`: the text that must be typed first; `work` runs after the click. The dialog closes
 *   then
 */
export function ConfirmDialog({ title, label, typed, work, onClose, children }) {
  const action = useAction();
  const [given, setGiven] = useState('');
  const isSure = typed === undefined || asShown(given) === asShown(typed);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (isSure && (await action.run(work))) onClose();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        ${children}
        ${
          typed !== undefined &&
          html`<label><span>Type “<bdi>${asShown(typed)}</bdi>” to confirm</span>
            <input autocomplete="off" spellcheck="false" value=${given}
              onInput=${(/** @type {Event} */ event) => setGiven(/** @type {HTMLInputElement} */ (event.currentTarget).value)} /></label>`
        }
        <${Failure} failure=${action.failure} />
        <footer><button class="danger" disabled=${action.isBusy || !isSure}>${label}</button></footer>
      </form>
    <//>
  `;
}

/**
 * The text as a page shows it: a browser shows several blanks as one.
 * @param {string} text
 */
function asShown(text) {
  return text.trim().replaceAll(/\s+/g, ' ');
}
