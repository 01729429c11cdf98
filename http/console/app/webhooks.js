// @ts-check
import { EVENT_TYPES } from '/console/event-types.js';
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from './asking.js';
import { count } from './format.js';
import { useEvents } from './live.js';
import { Badge, Copy, Dialog, Failure, Panel, RoleButton, Table, When } from './parts.js';
import { call } from './session.js';
import { Attempts } from './webhook-attempts.js';
/** @import { Answer } from './asking.js' */
/** @import { FreshWebhook, Webhook } from './answers.js' */

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
  const action = useAction();
  const [creating, setCreating] = useState(false);
  const [fresh, setFresh] = useState(/** @type {FreshWebhook | undefined} */ (undefined));
  const [tested, setTested] = useState('');
  /** The webhook whose tries are shown. */
  const [lookedAt, setLookedAt] = useState('');
  const shown = data?.items.find(({ id }) => id === lookedAt);
  const steer = (
    /** @type {string} */ method,
    /** @type {string} */ end,
    /** @type {object | undefined} */ body,
  ) =>
    action.run(async () => {
      const answer = await call(path + end, { method, ...(body === undefined ? {} : { body }) });
      if ('secret' in answer) setFresh(answer);
      if (end.endsWith('/test')) setTested(answer.error ?? `The endpoint answered ${answer.status}.`);
      refresh();
    });
  return html`
    <${Panel} title="Webhooks" class="whole" more=${html`<${RoleButton} role="admin" onClick=${() => setCreating(true)}>New webhook<//>`}>
      <${Failure} failure=${failure ?? action.failure} />
      ${tested !== '' && html`<p role="status">${tested}</p>`}
      <${Table} caption="Webhooks of this tenant" empty="None yet." rows=${data?.items} failure=${failure} columns=${columnsWith(steer, setLookedAt)}
        keyOf=${(/** @type {Webhook} */ { id }) => id} />
      ${
        creating &&
        html`<${NewWebhook} path=${path} onClose=${() => setCreating(false)} onCreated=${(
          /** @type {FreshWebhook} */ made,
        ) => {
          setCreating(false);
          setFresh(made);
          refresh();
        }} />`
      }
      ${fresh !== undefined && html`<${FreshSecret} fresh=${fresh} onClose=${() => setFresh(undefined)} />`}
    <//>
    ${shown !== undefined && html`<${Attempts} key=${shown.id} path=${path} webhook=${shown} onClose=${() => setLookedAt('')} onReplayed=${refresh} />`}
  `;
}

/**
 * @param {(method: string, end: string, body?: object) => void} steer
 * @param {(id: string) => void} lookAt shows the tries of a webhook
 */
function columnsWith(steer, lookAt) {
  return [
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
    {
      name: 'Change',
      cell: (/** @type {Webhook} */ { id, url, disabledAt }) => html`<span class="buttons">
        <button aria-label=${`Tries of ${url}`} onClick=${() => lookAt(id)}>Tries</button>
        <${RoleButton} role="operate" aria-label=${`Test ${url}`} onClick=${() => steer('POST', `/${id}/test`, {})}>Test<//>
        <${RoleButton} role="admin" aria-label=${`Rotate secret of ${url}`} onClick=${() => steer('POST', `/${id}/rotate-secret`, {})}>Rotate secret<//>
        <${RoleButton} role="admin" aria-label=${`${disabledAt === null ? 'Disable' : 'Enable'} ${url}`} onClick=${() => steer('PATCH', `/${id}`, { disabled: disabledAt === null })}>${disabledAt === null ? 'Disable' : 'Enable'}<//>
        <${RoleButton} role="admin" class="danger" aria-label=${`Delete ${url}`} onClick=${() => steer('DELETE', `/${id}`)}>Delete<//>
      </span>`,
    },
  ];
}

/** @param {Webhook} webhook */
function stateOf({ disabledBy, failingSince }) {
  if (disabledBy !== null)
    return disabledBy === 'operator' || disabledBy === 'tenant' ? 'disabled' : disabledBy;
  return failingSince === null ? 'valid' : 'failed';
}

/** @param {{ path: string, onClose: () => void, onCreated: (made: FreshWebhook) => void }} props */
function NewWebhook({ path, onClose, onCreated }) {
  const action = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const types = given.getAll('type');
    const body = { url: String(given.get('url')).trim(), types: types.length === 0 ? null : types };
    void action.run(async () => onCreated(await call(path, { method: 'POST', body })));
  };
  return html`
    <${Dialog} title="New webhook" onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Address <input name="url" type="url" required maxlength="2048" placeholder="https://example.com/hooks" /></label>
        <fieldset>
          <legend>Types of events (none chosen: all)</legend>
          ${EVENT_TYPES.map((each) => html`<label class="check"><input type="checkbox" name="type" value=${each} /> ${each}</label>`)}
        </fieldset>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.busy}>Create webhook</button></footer>
      </form>
    <//>
  `;
}

/**
 * The only time anybody sees a secret.
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
