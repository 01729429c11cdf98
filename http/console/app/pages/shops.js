// @ts-check
import { html } from '/console/preact.js';
import { useAnswer, usePages } from '../asking.js';
import { FilterField, Filters } from '../filters.js';
import { away, count, shortId, words } from '../format.js';
import { Badge, Failure, More, Panel, SilentNodes, Table } from '../parts.js';
import { address, shopAddress, useTitle } from '../route.js';

/** @import { Answer, Page } from '../asking.js' */
/** @import { Shop, Tenant } from '../answers.js' */

const SORTS = {
  trouble: 'Trouble first',
  queue: 'Messages waiting',
  waiting: 'Oldest message',
  mailbox: 'Mailbox depth',
  oldest: 'Oldest command',
  restarts: 'Restarts',
  id: 'Id',
};
const STATES = [
  'connected',
  'qr_waiting',
  'code_waiting',
  'starting',
  'reconnecting',
  'disconnected',
  'flagged',
  'banned',
  'login_refused',
  'egress_unreachable',
  'passkey_required',
  'number_in_use',
  'undelivered',
  'restricted',
  'warned',
  'paused',
  'held',
  'tenant_inactive',
  'sending',
  'gap',
  'backoff',
  'suspended',
];

/** Ends of a session that the channel's state does not show. */
const SHOWN_ENDS = ['login_refused', 'egress_unreachable', 'passkey_required', 'number_in_use'];

/** @param {Shop} shop */
const keyOf = ({ shopId }) => shopId;

/** @param {{ query: URLSearchParams }} props */
export function Shops({ query }) {
  const q = query.get('q') ?? '';
  const sort = query.get('sort') ?? 'trouble';
  const state = query.get('state') ?? '';
  const asked = address('/actors', { sort, state, q, limit: '50' }).slice(1);
  const shops = usePages(asked, { everyMs: 3_000, keyOf });
  useTitle('Shops');
  return html`
    <h1 tabindex="-1">Shops</h1>
    <${Filters} place="/shops">
      <label>Search <${FilterField} type="search" name="q" value=${q} placeholder="name, phone or id" /></label>
      <label>State
        <select name="state" value=${state}>
          <option value="">any</option>
          ${STATES.map((each) => html`<option value=${each}>${words(each)}</option>`)}
        </select>
      </label>
      <label>Sort by
        <select name="sort" value=${sort}>
          ${Object.entries(SORTS).map(([name, label]) => html`<option value=${name}>${label}</option>`)}
        </select>
      </label>
    <//>
    <${Failure} failure=${shops.failure} />
    <${SilentNodes} nodes=${shops.silentNodes} />
    <section class="panel">
      <${Table}
        caption="Active shops"
        empty=${q === '' ? 'No active shop is in this state.' : 'No active shop matches. One that sleeps is found under its tenant.'}
        rows=${shops.items}
        failure=${shops.failure}
        keyOf=${keyOf}
        columns=${columns}
      />
      <${More} next=${shops.next} isBusy=${shops.isBusy} />
    </section>
    ${q !== '' && html`<${MatchingTenants} q=${q} />`}
  `;
}

/**
 * Returns the shop's name, or its short id: the name of a suspended shop is not in memory.
 * @param {Shop} shop
 * @returns {string}
 */
export function nameOf({ name, shopId }) {
  return name ?? shortId(shopId);
}

const columns = [
  {
    name: 'Shop',
    cell: (/** @type {Shop} */ shop) => html`<a href=${shopAddress(shop)}>${nameOf(shop)}</a>`,
  },
  { name: 'State', cell: (/** @type {Shop} */ shop) => html`<${States} shop=${shop} />` },
  {
    name: 'Waiting',
    numeric: true,
    cell: (/** @type {Shop} */ { details }) => count(details?.queue.depth ?? 0),
  },
  {
    name: 'Oldest',
    numeric: true,
    cell: (/** @type {Shop} */ { details }) => {
      const [oldest] = details?.queue.waiting ?? [];
      return oldest === undefined ? '–' : away(oldest.createdAtMs).replace(' ago', '');
    },
  },
  { name: 'Mailbox', numeric: true, cell: (/** @type {Shop} */ { mailbox }) => count(mailbox.depth) },
  { name: 'Restarts', numeric: true, cell: (/** @type {Shop} */ { restarts }) => count(restarts) },
  { name: 'Shard', numeric: true, cell: (/** @type {Shop} */ { shard }) => shard },
  { name: 'Node', cell: (/** @type {Shop} */ { owner }) => owner.nodeId },
];

/** @param {{ shop: Shop }} props */
export function States({ shop }) {
  const { details, status } = shop;
  if (details === null) return html`<${Badge} state=${status} />`;
  const states = [details.channel.state];
  const isOpen = details.channel.state === 'connected';
  if (isOpen) states.push(details.pacing.state);
  if (details.limits.restriction !== null) states.push('restricted');
  if ((details.limits.newChats?.warning ?? null) !== null) states.push('warned');
  if (details.pacing.heldByOperator) states.push('held');
  if (details.tenantActive === false) states.push('tenant_inactive');
  if (details.channel.flagged) states.push('flagged');
  const end = details.channel.lastEnd?.end ?? '';
  if (!isOpen && SHOWN_ENDS.includes(end)) states.push(end);
  if (details.undelivered?.isLong) states.push('undelivered');
  if (status !== 'active') states.push(status);
  return html`<span class="badges">${states.map((state) => html`<${Badge} state=${state} />`)}</span>`;
}

/** @param {{ q: string }} props */
function MatchingTenants({ q }) {
  /** @type {Answer<Page<Tenant>>} */
  const { data } = useAnswer(address('/tenants', { q, limit: '5' }).slice(1));
  if (data === undefined || data.items.length === 0) return null;
  return html`
    <${Panel} title="Tenants of that name">
      <ul class="plain">${data.items.map((/** @type {Tenant} */ { id, name }) => html`<li><a href=${address(`/tenants/${id}`)}>${name}</a></li>`)}</ul>
    <//>
  `;
}
