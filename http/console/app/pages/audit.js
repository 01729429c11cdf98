// @ts-check
import { html } from '/console/preact.js';
import { usePages } from '../asking.js';
import { FilterField, Filters } from '../filters.js';
import { shortId } from '../format.js';
import { Answered, Failure, More, Table, When } from '../parts.js';
import { address, useTitle } from '../route.js';

/** @import { Change } from '../answers.js' */

/** @param {Change} change */
const keyOf = ({ id }) => id;

const columns = [
  {
    name: 'Who',
    cell: (/** @type {Change} */ { operator, role }) => html`${operator} <span class="muted">${role}</span>`,
  },
  { name: 'At', cell: (/** @type {Change} */ { at }) => html`<${When} at=${at} dated />` },
  {
    name: 'Outcome',
    cell: (/** @type {Change} */ { status, code }) =>
      status === null
        ? html`<span class="muted">not known</span>`
        : html`<${Answered} status=${status} code=${code} />`,
  },
  {
    name: 'What',
    place: /** @type {const} */ ('full'),
    cell: (/** @type {Change} */ { method, route }) => html`${method} <code>${route}</code>`,
  },
  {
    name: 'Of',
    place: /** @type {const} */ ('full'),
    cell: (/** @type {Change} */ { params }) =>
      Object.entries(params).map(
        ([name, value]) =>
          html`<code class="wrap" title=${`${name} ${value}`}>${shortId(String(value))}</code> `,
      ),
  },
  { name: 'From', place: /** @type {const} */ ('wide'), cell: (/** @type {Change} */ { ip }) => ip },
  {
    name: 'Request id',
    place: /** @type {const} */ ('wide'),
    cell: (/** @type {Change} */ { requestId }) => html`<code class="wrap whole-id">${requestId}</code>`,
  },
];

/** @param {{ query: URLSearchParams }} props */
export function Audit({ query }) {
  const given = {
    operator: query.get('operator') ?? '',
    tenant: query.get('tenant') ?? '',
    route: query.get('route') ?? '',
    status: query.get('status') ?? '',
  };
  const log = usePages(address('/audit', { ...given, limit: '50' }).slice(1), { everyMs: 5_000, keyOf });
  useTitle('Audit');
  return html`
    <h1 tabindex="-1">Audit</h1>
    <p class="muted">What operators changed or tried to change. Ids of what was erased are shown as digests.</p>
    <${Filters} place="/audit">
      <label>Operator <${FilterField} name="operator" value=${given.operator} placeholder="name" /></label>
      <label>Tenant <${FilterField} name="tenant" value=${given.tenant} placeholder="id" pattern="[0-9a-f]{24}" /></label>
      <label>Route <${FilterField} name="route" value=${given.route} placeholder="/tenants/{tenantId}/keys" size="28" /></label>
      <label>Status <${FilterField} name="status" value=${given.status} inputmode="numeric" placeholder="200" pattern="[1-5][0-9][0-9]" size="5" /></label>
    <//>
    <${Failure} failure=${log.failure} />
    <section class="panel">
      <${Table} caption="Changes, newest first" empty="No change matches." rows=${log.items} failure=${log.failure} columns=${columns}
        keyOf=${keyOf} />
      <${More} next=${log.next} isBusy=${log.isBusy} />
    </section>
  `;
}
