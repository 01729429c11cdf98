// @ts-check
import { EVENT_TYPES } from '/console/event-types.js';
import { html } from '/console/preact.js';
import { useAction, useAnswer } from './asking.js';
import { Dialog, Failure } from './parts.js';
/** @import { Answer } from './asking.js' */
/** @import { TenantShop, Webhook } from './answers.js' */

/**
 * Asks for the address of a webhook and the events it gets.
 * @param {{
 *   tenantId: string,
 *   webhook?: Webhook,
 *   work: (body: Pick<Webhook, 'url' | 'types' | 'shops'>) => Promise<unknown>,
 *   onClose: () => void,
 * }} props `webhook`: the one to change; absent for a new one; `work` gets the input, and then the dialog closes
 */
export function WebhookForm({ tenantId, webhook, work, onClose }) {
  const action = useAction();
  /** @type {Answer<{ items: TenantShop[] }>} */
  const { data } = useAnswer(`/tenants/${tenantId}/shops?limit=100`);
  const [title, label] =
    webhook === undefined ? ['New webhook', 'Create webhook'] : ['Change webhook', 'Change it'];
  const listed = data?.items ?? [];
  // A tenant may have more shops than are listed; those that were chosen are kept.
  const others = (webhook?.shops ?? []).filter((id) => !listed.some((shop) => shop.id === id));
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const chosen = (/** @type {string} */ name) => {
      const values = given.getAll(name).map(String);
      return values.length === 0 ? null : values;
    };
    const body = { url: String(given.get('url')).trim(), types: chosen('type'), shops: chosen('shop') };
    if (await action.run(() => work(body))) onClose();
  };
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <form class="fields" onSubmit=${submit}>
        <label>Address <input name="url" type="url" required maxlength="2048" placeholder="https://example.com/hooks" defaultValue=${webhook?.url ?? ''} /></label>
        <fieldset>
          <legend>Types of events (none chosen: all)</legend>
          ${EVENT_TYPES.map((each) => html`<${Choice} name="type" value=${each} chosen=${webhook?.types} label=${each} />`)}
        </fieldset>
        <fieldset>
          <legend>Shops (none chosen: all)</legend>
          ${listed.map((shop) => html`<${Choice} key=${shop.id} name="shop" value=${shop.id} chosen=${webhook?.shops} label=${shop.name} />`)}
          ${others.map((id) => html`<${Choice} key=${id} name="shop" value=${id} chosen=${webhook?.shops} label=${id} />`)}
        </fieldset>
        <${Failure} failure=${action.failure} />
        <footer><button class="primary" disabled=${action.busy || data === undefined}>${label}</button></footer>
      </form>
    <//>
  `;
}

/** @param {{ name: string, value: string, chosen: readonly string[] | null | undefined, label: string }} props */
function Choice({ name, value, chosen, label }) {
  return html`<label class="check"><input type="checkbox" name=${name} value=${value} defaultChecked=${chosen?.includes(value) ?? false} /> <span class="given">${label}</span></label>`;
}
