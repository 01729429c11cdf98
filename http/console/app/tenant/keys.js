// @ts-check
import { PERMISSIONS } from '/console/permissions.js';
import { html, useState } from '/console/preact.js';
import { useAnswer } from '../asking.js';
import { ChangeKey, FreshKey, NewKey } from '../dialogs/key-dialogs.js';
import { count, day } from '../format.js';
import { Badge, Failure, Panel, RoleButton, Table } from '../parts.js';
/** @import { Answer } from '../asking.js' */
/** @import { ApiKey, FreshKey as Fresh } from '../answers.js' */

/** @param {{ tenantId: string }} props */
export function Keys({ tenantId }) {
  const path = `/tenants/${tenantId}/keys`;
  /** @type {Answer<{ items: ApiKey[] }>} */
  const { data, failure, refresh } = useAnswer(path, { everyMs: 10_000 });
  const [isCreating, setCreating] = useState(false);
  const [asked, ask] = useState(
    /** @type {{ what: 'rotate' | 'revoke', key: ApiKey } | undefined} */ (undefined),
  );
  const [fresh, setFresh] = useState(/** @type {Fresh | undefined} */ (undefined));
  return html`
    <${Panel} title="Keys" class="whole" more=${html`<${RoleButton} role="admin" onClick=${() => setCreating(true)}>New key<//>`}>
      <${Failure} failure=${failure} />
      <${Table} caption="Keys of this tenant" empty="None yet." rows=${data?.items.toReversed()} failure=${failure} columns=${columnsWith(ask)}
        keyOf=${(/** @type {ApiKey} */ { id }) => id} />
      ${
        asked !== undefined &&
        html`<${ChangeKey} path=${path} asked=${asked} onClose=${() => ask(undefined)} onChanged=${(
          /** @type {ApiKey | Fresh} */ key,
        ) => {
          ask(undefined);
          if ('key' in key) setFresh(key);
          refresh();
        }} />`
      }
      ${
        isCreating &&
        html`<${NewKey} path=${path} onClose=${() => setCreating(false)} onCreated=${(
          /** @type {Fresh} */ key,
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

/** @param {(asked: { what: 'rotate' | 'revoke', key: ApiKey }) => void} ask */
function columnsWith(ask) {
  return [
    { name: 'Key', cell: (/** @type {ApiKey} */ { name }) => name },
    { name: 'State', cell: (/** @type {ApiKey} */ key) => html`<${Badge} state=${stateOf(key)} />` },
    {
      name: 'Permissions',
      cell: (/** @type {ApiKey} */ { permissions }) =>
        html`<span title=${permissions.join(', ')}>${permissions.length === 1 ? permissions[0] : `${permissions.length} of ${PERMISSIONS.length}`}</span>`,
    },
    { name: 'A minute', numeric: true, cell: (/** @type {ApiKey} */ { limits }) => count(limits.minute) },
    {
      name: 'Expires',
      cell: (/** @type {ApiKey} */ { expiresAt }) => (expiresAt === null ? 'never' : day(expiresAt)),
    },
    {
      name: 'Change',
      cell: (/** @type {ApiKey} */ key) =>
        key.revokedAt === null
          ? html`<span class="buttons">
              <${RoleButton} role="admin" aria-label=${`Rotate ${key.name}`} onClick=${() => ask({ what: 'rotate', key })}>Rotate<//>
              <${RoleButton} role="admin" class="danger" aria-label=${`Revoke ${key.name}`} onClick=${() => ask({ what: 'revoke', key })}>Revoke<//>
            </span>`
          : html`<span class="muted">since ${day(key.revokedAt)}</span>`,
    },
  ];
}

/** @param {ApiKey} key */
function stateOf({ revokedAt, expiresAt }) {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}
