// @ts-check
import { PERMISSIONS } from '/console/permissions.js';
import { html, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted, textOf } from '../form.js';
import { Copy, Dialog, Failure } from '../parts.js';
import { call } from '../session.js';

/** @import { ApiKey, FreshKey } from '../answers.js' */

/** Permissions for common uses of a key. */
const PRESETS = /** @type {Record<string, readonly string[]>} */ ({
  'Send only': ['messages.send', 'messages.read'],
  'Read only': PERMISSIONS.filter((each) => each.endsWith('.read') && each !== 'inbound.read'),
  All: PERMISSIONS,
  None: [],
});

/** @param {{ path: string, onClose: () => void, onCreated: (key: FreshKey) => void }} props */
export function NewKey({ path, onClose, onCreated }) {
  const action = useAction();
  const [chosen, setChosen] = useState(/** @type {readonly string[]} */ ([]));
  const toggle = (/** @type {string} */ each) =>
    setChosen(chosen.includes(each) ? chosen.filter((other) => other !== each) : [...chosen, each]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    const given = submitted(event);
    const expires = textOf(given, 'expires');
    const addresses = textOf(given, 'addresses')
      .split(/[\s,]+/)
      .filter((each) => each !== '');
    void action.run(async () => {
      const key = await call(path, {
        method: 'POST',
        body: {
          name: textOf(given, 'name'),
          permissions: chosen,
          // The key expires when that day begins in the browser's time zone. The list shows days in it, too.
          expiresAt: expires === '' ? null : new Date(`${expires}T00:00`).toISOString(),
          ipAllowlist: addresses,
        },
      });
      onCreated(key);
    });
  };
  return html`
    <${Dialog} title="New key" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Name <input name="name" required maxlength="100" placeholder="order notifications" /></label>
        <fieldset>
          <legend>Permissions</legend>
          <span class="buttons">${Object.entries(PRESETS).map(([name, preset]) => html`<button type="button" onClick=${() => setChosen(preset)}>${name}</button>`)}</span>
          ${PERMISSIONS.map((each) => html`<label class="check"><input type="checkbox" name="permission" value=${each} checked=${chosen.includes(each)} onChange=${() => toggle(each)} /> ${each}</label>`)}
        </fieldset>
        <label>Expires <input type="date" name="expires" /></label>
        <label>Only from these addresses <input name="addresses" placeholder="203.0.113.0/24 (empty: from anywhere)" /></label>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.isBusy}>Create key</button></footer>
      </form>
    <//>
  `;
}

const WARNINGS = {
  revoke: 'The next call with it is refused, on every node. This cannot be undone.',
  rotate: 'It gets a new value. The old one stops at once: calls with it answer 401 API_KEY_REVOKED.',
};

/**
 * Asks for confirmation, then rotates or revokes a key.
 * @param {{
 *   path: string,
 *   asked: { what: 'rotate' | 'revoke', key: ApiKey },
 *   onClose: () => void,
 *   onChanged: (key: ApiKey | FreshKey) => void,
 * }} props
 */
export function ChangeKey({ path, asked: { what, key }, onClose, onChanged }) {
  const action = useAction();
  const isRevoked = what === 'revoke';
  const change = () =>
    action.run(async () =>
      onChanged(
        isRevoked
          ? await call(`${path}/${key.id}`, { method: 'DELETE' })
          : await call(`${path}/${key.id}/rotate`, { method: 'POST', body: {} }),
      ),
    );
  return html`
    <${Dialog} title=${isRevoked ? 'Revoke key' : 'Rotate key'} onClose=${onClose}>
      <p>${WARNINGS[what]} Key <b>${key.name}</b>.</p>
      <${Failure} failure=${action.failure} />
      <footer>
        <button class=${isRevoked ? 'danger' : 'primary'} disabled=${action.isBusy} onClick=${change}>
          ${isRevoked ? 'Revoke now' : 'Rotate now'}
        </button>
      </footer>
    <//>
  `;
}

/**
 * Shows a key's value. It is shown only once.
 * @param {{ fresh: { name: string, key: string }, onClose: () => void }} props
 */
export function FreshKey({ fresh, onClose }) {
  return html`
    <${Dialog} title="Keep this key now" onClose=${onClose}>
      <p>The value of <b>${fresh.name}</b>. It is shown only now and is not stored. If you lose it, rotate the key.</p>
      <p class="secret"><code id="fresh-key">${fresh.key}</code><${Copy} text=${fresh.key} /></p>
      <footer><button class="primary" onClick=${onClose}>I have kept it</button></footer>
    <//>
  `;
}
