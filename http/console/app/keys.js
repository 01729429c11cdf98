// @ts-check
import { PERMISSIONS } from '/console/permissions.js';
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from './asking.js';
import { count, day } from './format.js';
import { FreshKey, NewKey } from './key-dialogs.js';
import { Badge, Dialog, Failure, Panel, Table } from './parts.js';
import { call } from './session.js';

/** @param {{ tenantId: string }} props */
export function Keys({ tenantId }) {
  const path = `/tenants/${tenantId}/keys`;
  const { data, failure, refresh } = useAnswer(path, { everyMs: 10_000 });
  const [creating, setCreating] = useState(false);
  const [asked, ask] = useState(
    /** @type {{ what: 'rotate' | 'revoke', key: any } | undefined} */ (undefined),
  );
  const [fresh, setFresh] = useState(/** @type {any} */ (undefined));
  const action = useAction();
  const settled = () => {
    ask(undefined);
    refresh();
  };
  const rotate = (/** @type {any} */ key) =>
    action.run(async () => {
      setFresh(await call(`${path}/${key.id}/rotate`, { method: 'POST', body: {} }));
      settled();
    });
  const revoke = (/** @type {any} */ key) =>
    action.run(async () => {
      await call(`${path}/${key.id}`, { method: 'DELETE' });
      settled();
    });
  return html`
    <${Panel} title="Keys" class="whole" more=${html`<button onClick=${() => setCreating(true)}>New key</button>`}>
      <${Failure} failure=${failure} />
      <${Table} caption="Keys of this tenant" empty="None yet." rows=${data?.items.toReversed()} columns=${columnsWith(ask)}
        keyOf=${(/** @type {any} */ { id }) => id} />
      ${
        asked !== undefined &&
        html`
          <${Dialog} title=${asked.what === 'revoke' ? 'Revoke key' : 'Rotate key'} onClose=${() => ask(undefined)}>
            <p>${WARNINGS[asked.what]} Key <b>${asked.key.name}</b>.</p>
            <${Failure} failure=${action.failure} />
            <footer>
              <button class=${asked.what === 'revoke' ? 'danger' : 'primary'} disabled=${action.busy}
                onClick=${() => (asked.what === 'revoke' ? revoke(asked.key) : rotate(asked.key))}>
                ${asked.what === 'revoke' ? 'Revoke now' : 'Rotate now'}
              </button>
            </footer>
          <//>
        `
      }
      ${
        creating &&
        html`<${NewKey} path=${path} onClose=${() => setCreating(false)} onCreated=${(
          /** @type {any} */ key,
        ) => {
          setCreating(false);
          setFresh(key);
          refresh();
        }} />`
      }
      ${fresh !== undefined && html`<${FreshKey} fresh=${fresh} onClose=${() => setFresh(undefined)} />`}
    <//>
  `;
}

const WARNINGS = {
  revoke: 'The next call with it is refused, on every node. This cannot be undone.',
  rotate: 'It gets a new value and the old one stops at once.',
};

/** @param {(asked: { what: 'rotate' | 'revoke', key: any }) => void} ask */
function columnsWith(ask) {
  return [
    { name: 'Key', cell: (/** @type {any} */ { name }) => name },
    { name: 'State', cell: (/** @type {any} */ key) => html`<${Badge} state=${stateOf(key)} />` },
    {
      name: 'Permissions',
      cell: (/** @type {any} */ { permissions }) =>
        html`<span title=${permissions.join(', ')}>${permissions.length === 1 ? permissions[0] : `${permissions.length} of ${PERMISSIONS.length}`}</span>`,
    },
    { name: 'A minute', numeric: true, cell: (/** @type {any} */ { limits }) => count(limits.minute) },
    {
      name: 'Expires',
      cell: (/** @type {any} */ { expiresAt }) => (expiresAt === null ? 'never' : day(expiresAt)),
    },
    {
      name: 'Change',
      cell: (/** @type {any} */ key) =>
        key.revokedAt === null
          ? html`<span class="buttons">
              <button aria-label=${`Rotate ${key.name}`} onClick=${() => ask({ what: 'rotate', key })}>Rotate</button>
              <button class="danger" aria-label=${`Revoke ${key.name}`} onClick=${() => ask({ what: 'revoke', key })}>Revoke</button>
            </span>`
          : html`<span class="muted">since ${day(key.revokedAt)}</span>`,
    },
  ];
}

/** @param {any} key */
function stateOf({ revokedAt, expiresAt }) {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}
