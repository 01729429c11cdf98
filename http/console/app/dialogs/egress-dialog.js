// @ts-check
import { html } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted, textOf } from '../form.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

/**
 * Shows and changes the proxy of a shop's connections. The password is never shown, so a change needs the whole
 * address.
 * @param {{ path: string, egress: string | null, onClose: () => void }} props `egress` without its password, or null if there is none
 */
export function EgressDialog({ path, egress, onClose }) {
  const action = useAction();
  const change = (/** @type {string | null} */ given) =>
    action.run(async () => {
      await call(path, { method: 'PATCH', body: { egress: given } });
      onClose();
    });
  const submit = (/** @type {SubmitEvent} */ event) => void change(textOf(submitted(event), 'egress'));
  return html`
    <${Dialog} title="Egress" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <p>Now: ${egress === null ? "the node's own address" : html`<code class="wrap">${egress}</code>`}</p>
        <label>Proxy of all connections <input name="egress" required maxlength="1000" autocomplete="off" spellcheck="false"
          placeholder="socks5://user:password@host:1080" /></label>
        <p class="muted">First a connection to the chat network is tried through the proxy. Then the session is opened again.</p>
        <${Failure} failure=${action.failure} />
        <footer>
          ${egress !== null && html`<button type="button" class="danger" disabled=${action.isBusy} onClick=${() => change(null)}>Remove the egress</button>`}
          <button class="primary" disabled=${action.isBusy}>${action.isBusy ? 'Trying…' : 'Try and set'}</button>
        </footer>
      </form>
    <//>
  `;
}
