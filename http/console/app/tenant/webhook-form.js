// @ts-check
import { EVENT_TYPES } from '/console/event-types.js';
import { html, useEffect, useState } from '/console/preact.js';
import { useAction } from '../asking.js';
import { submitted, textOf } from '../form.js';
import { Dialog, Failure } from '../parts.js';
import { call } from '../session.js';
/** @import { TenantShop, Webhook } from '../answers.js' */

/**
 * Asks for the address of a webhook and the events it gets.
 * @param {{
 *   tenantId: string,
 *   webhook?: Webhook,
 *   work: (body: Pick<Webhook, 'url' | 'types' | 'shops'>) => Promise<unknown>,
 *   onClose: () => void,
 * }} props `webhook`: the one to change, absent for a new one; `work` gets the input, and then the dialog closes
 */
export function WebhookForm({ tenantId, webhook, work, onClose }) {
  const action = useAction();
  const loading = useAction();
  const [shops, setShops] = useState(/** @type {readonly TenantShop[] | undefined} */ (undefined));
  useEffect(() => void loading.run(async () => setShops(await shopsOf(tenantId))), [tenantId]);
  const [title, label] =
    webhook === undefined ? ['New webhook', 'Create webhook'] : ['Change webhook', 'Change it'];
  // A chosen shop may have been erased. It stays chosen until the operator removes it.
  const erased = (webhook?.shops ?? []).filter((id) => shops?.every((shop) => shop.id !== id));
  const [isOfAll, setIsOfAll] = useState((webhook?.shops ?? null) === null);
  // All its shops were erased. It stays one of no shop, unless the operator chooses others.
  const isOfNone = webhook?.shops?.length === 0;
  const submit = async (/** @type {SubmitEvent} */ event) => {
    const given = submitted(event);
    const chosen = (/** @type {string} */ name) => given.getAll(name).map(String);
    const types = chosen('type');
    const body = {
      url: textOf(given, 'url'),
      types: types.length === 0 ? null : types,
      // The service refuses an empty list, unless it is empty already.
      shops: isOfAll ? null : chosen('shop'),
    };
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
          <legend>Shops${isOfNone && !isOfAll ? ' (none chosen: still none, all its shops were erased)' : ''}</legend>
          <label class="check"><input type="checkbox" checked=${isOfAll} onChange=${() => setIsOfAll(!isOfAll)} /> All shops, later ones too</label>
          ${shops?.map((shop) => html`<${Choice} key=${shop.id} name="shop" value=${shop.id} chosen=${webhook?.shops} label=${shop.name} disabled=${isOfAll} />`)}
          ${erased.map((id) => html`<${Choice} key=${id} name="shop" value=${id} chosen=${webhook?.shops} label=${id} disabled=${isOfAll} />`)}
        </fieldset>
        <${Failure} failure=${loading.failure ?? action.failure} />
        <footer><button class="primary" disabled=${action.isBusy || shops === undefined}>${label}</button></footer>
      </form>
    <//>
  `;
}

/** How often the shops are read at most, if their number changes each time. A shop may then be missing. */
const READINGS = 3;

/**
 * Returns all shops of a tenant, newest first.
 * @param {string} tenantId
 */
async function shopsOf(tenantId) {
  for (let reading = 1; ; reading += 1) {
    const { shops, totals } = await readShops(tenantId);
    // An erased shop moves later ones to the page before theirs, which may have been read already.
    if (totals.size === 1 || reading === READINGS) return shops;
  }
}

/**
 * Reads all pages once. Returns also the number of all shops that they reported.
 * @param {string} tenantId
 */
async function readShops(tenantId) {
  // A shop that is created meanwhile moves others to the next page, where they are found twice.
  /** @type {Map<string, TenantShop>} */
  const shops = new Map();
  /** @type {Set<number>} */
  const totals = new Set();
  for (let page = 1, last = 1; page <= last; page += 1) {
    /** @type {{ items: TenantShop[], limit: number, total: number }} */
    const { items, limit, total } = await call(`/tenants/${tenantId}/shops?page=${page}&limit=100`);
    for (const shop of items) shops.set(shop.id, shop);
    totals.add(total);
    last = Math.ceil(total / limit);
  }
  return { shops: [...shops.values()], totals };
}

/** @param {{ name: string, value: string, chosen: readonly string[] | null | undefined, label: string, disabled?: boolean }} props */
function Choice({ name, value, chosen, label, disabled = false }) {
  return html`<label class="check"><input type="checkbox" name=${name} value=${value} disabled=${disabled} defaultChecked=${chosen?.includes(value) ?? false} /> <span class="given">${label}</span></label>`;
}
