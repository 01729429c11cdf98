// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { ConfirmDialog } from '../dialogs/confirm-dialog.js';
import { count } from '../format.js';
import { useEvents } from '../live.js';
import { Badge, Copy, Dialog, Failure, Panel, RoleButton, Table, When } from '../parts.js';
import { call } from '../session.js';
import { Attempts } from './webhook-attempts.js';
import { WebhookForm } from './webhook-form.js';
/** @import { Answer } from '../asking.js' */
/** @import { FreshWebhook, Webhook } from '../answers.js' */

/** @param {{ tenantId: string }} props */
export function Webhooks({ tenantId }) {
  const path = `/tenants/${tenantId}/webhooks`;
  /** @type {Answer<{ items: Webhook[] }>} */
  const { data, failure, refresh } = useAnswer(path, { everyMs: 10_000 });
  useEvents(
    (event) => {
      if (event.type === 'webhook' && event.tenantId === tenantId) refresh();
    },
    [tenantId, refresh],
  );
  /** The open dialog and its webhook. */
  const [asked, ask] = useState(
    /** @type {{ what: 'create' | 'change' | 'delete', webhook?: Webhook } | undefined} */ (undefined),
  );
  /** Webhooks with a new secret. The first is shown. The others follow when it is closed. */
  const [secrets, setSecrets] = useState(/** @type {readonly FreshWebhook[]} */ ([]));
  const [fresh] = secrets;
  const addSecret = (/** @type {FreshWebhook} */ webhook) => setSecrets((known) => [...known, webhook]);
  /** The webhook whose attempts are shown. */
  const [lookedAt, setLookedAt] = useState('');
  const shown = data?.items.find(({ id }) => id === lookedAt);
  const change = {
    name: 'Change',
    place: 'full',
    cell: (/** @type {Webhook} */ webhook) =>
      html`<${Changes} path=${path} webhook=${webhook} ask=${ask} onAttempts=${() => setLookedAt(webhook.id)} onSecret=${addSecret} onChanged=${refresh} />`,
  };
  return html`
    <${Panel} title="Webhooks" class="whole" more=${html`<${RoleButton} role="admin" onClick=${() => ask({ what: 'create' })}>New webhook<//>`}>
      <${Failure} failure=${failure} />
      <${Table} caption="Webhooks of this tenant" empty="None yet." rows=${data?.items} failure=${failure} columns=${[...COLUMNS, change]}
        keyOf=${(/** @type {Webhook} */ { id }) => id} />
      ${
        (asked?.what === 'create' || asked?.what === 'change') &&
        html`<${WebhookForm} tenantId=${tenantId} webhook=${asked.webhook} onClose=${() => ask(undefined)} work=${async (
          /** @type {object} */ body,
        ) => {
          const { webhook } = asked;
          if (webhook === undefined) addSecret(await call(path, { method: 'POST', body }));
          else await call(`${path}/${webhook.id}`, { method: 'PATCH', body });
          ask(undefined);
          refresh();
        }} />`
      }
      ${
        asked?.what === 'delete' &&
        html`
          <${ConfirmDialog} title="Delete webhook" label="Delete it now" onClose=${() => ask(undefined)} work=${async () => {
            await call(`${path}/${asked.webhook?.id}`, { method: 'DELETE' });
            refresh();
          }}>
            <p><b>${asked.webhook?.url}</b> gets no more events. Events that wait for another attempt are dropped.</p>
          <//>
        `
      }
      ${
        fresh !== undefined &&
        html`<${FreshSecret} key=${fresh.id} fresh=${fresh} onClose=${() => setSecrets((known) => known.filter((each) => each !== fresh))} />`
      }
    <//>
    ${shown !== undefined && html`<${Attempts} key=${shown.id} path=${path} webhook=${shown} onClose=${() => setLookedAt('')} onReplayed=${refresh} />`}
  `;
}

const COLUMNS = [
  { name: 'Address', cell: (/** @type {Webhook} */ { url }) => html`<code class="wrap">${url}</code>` },
  { name: 'State', cell: (/** @type {Webhook} */ webhook) => html`<${Badge} state=${stateOf(webhook)} />` },
  {
    name: 'Events',
    cell: (/** @type {Webhook} */ { types, shops }) =>
      `${types === null ? 'all' : types.join(', ')}${shops === null ? '' : ` of ${shops.length} shops`}`,
  },
  {
    name: 'Failing since',
    cell: (/** @type {Webhook} */ { failingSince }) => html`<${When} at=${failingSince} relative />`,
  },
  { name: 'To try again', numeric: true, cell: (/** @type {Webhook} */ { waiting }) => count(waiting) },
  { name: 'Given up', numeric: true, cell: (/** @type {Webhook} */ { deadLetters }) => count(deadLetters) },
];

/**
 * The buttons of a webhook, and the outcome of its last call.
 * @param {{
 *   path: string,
 *   webhook: Webhook,
 *   ask: (asked: { what: 'change' | 'delete', webhook: Webhook }) => void,
 *   onAttempts: () => void,
 *   onSecret: (fresh: FreshWebhook) => void,
 *   onChanged: () => void,
 * }} props `path`: of the tenant's webhooks; `ask` opens a dialog
 */
function Changes({ path, webhook, ask, onAttempts, onSecret, onChanged }) {
  const { id, url, disabledAt } = webhook;
  const turn = disabledAt === null ? 'Disable' : 'Enable';
  // While a call runs, the buttons are disabled: the second click of two must not rotate a secret twice.
  const { isBusy, failure, run } = useAction();
  const [tested, setTested] = useState('');
  const send = (/** @type {string} */ end, /** @type {string} */ method, /** @type {object} */ body) =>
    run(async () => {
      setTested('');
      const answer = await call(`${path}/${id}${end}`, { method, body });
      if ('secret' in answer) onSecret(answer);
      if (end === '/test') setTested(answer.error ?? `The endpoint answered ${answer.status}.`);
      onChanged();
    });
  return html`
    <span class="buttons many">
      <button aria-label=${`Attempts of ${url}`} onClick=${onAttempts}>Attempts</button>
      <${RoleButton} role="operate" disabled=${isBusy} aria-label=${`Test ${url}`} onClick=${() => send('/test', 'POST', {})}>Test<//>
      <${RoleButton} role="admin" aria-label=${`Change ${url}`} onClick=${() => ask({ what: 'change', webhook })}>Change<//>
      <${RoleButton} role="admin" disabled=${isBusy} aria-label=${`Rotate secret of ${url}`} onClick=${() => send('/rotate-secret', 'POST', {})}>Rotate secret<//>
      <${RoleButton} role="admin" disabled=${isBusy} aria-label=${`${turn} ${url}`} onClick=${() => send('', 'PATCH', { disabled: disabledAt === null })}>${turn}<//>
      <${RoleButton} role="admin" class="danger" aria-label=${`Delete ${url}`} onClick=${() => ask({ what: 'delete', webhook })}>Delete<//>
    </span>
    <${Failure} failure=${failure} />
    ${tested !== '' && html`<p role="status">${tested}</p>`}
  `;
}

/** @param {Webhook} webhook */
function stateOf({ disabledBy, failingSince }) {
  if (disabledBy !== null)
    return disabledBy === 'operator' || disabledBy === 'tenant' ? 'disabled' : disabledBy;
  return failingSince === null ? 'valid' : 'failed';
}

/**
 * Shows a secret. It is shown only once.
 * @param {{ fresh: FreshWebhook, onClose: () => void }} props
 */
function FreshSecret({ fresh, onClose }) {
  return html`
    <${Dialog} title="Keep this secret now" onClose=${onClose}>
      <p>What is sent to <b>${fresh.url}</b> is signed with it. It is shown once; a lost one is replaced by rotating it.</p>
      <p class="secret"><code id="fresh-secret">${fresh.secret}</code><${Copy} text=${fresh.secret} /></p>
      <footer><button class="primary" onClick=${onClose}>I have kept it</button></footer>
    <//>
  `;
}
