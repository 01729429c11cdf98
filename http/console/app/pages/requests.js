// @ts-check
import { html } from '/console/preact.js';
import { usePages } from '../asking.js';
import { FilterField, Filters } from '../filters.js';
import { milliseconds, shortId } from '../format.js';
import { Answered, Badge, Failure, More, Table, When } from '../parts.js';
import { address, useTitle } from '../route.js';

/** @import { LoggedRequest } from '../answers.js' */

/** @param {LoggedRequest} request */
const keyOf = ({ at, requestId }) => at + requestId;

/** @param {{ query: URLSearchParams }} props */
export function Requests({ query }) {
  const given = {
    tenant: query.get('tenant') ?? '',
    status: query.get('status') ?? '',
    route: query.get('route') ?? '',
    code: query.get('code') ?? '',
    refused: query.get('refused') ?? '',
  };
  const log = usePages(address('/requests', { ...given, limit: '50' }).slice(1), { everyMs: 3_000, keyOf });
  useTitle('Requests');
  return html`
    <h1 tabindex="-1">Requests</h1>
    <${Filters} place="/requests">
      <label>Tenant <${FilterField} name="tenant" value=${given.tenant} placeholder="id, or nobody" pattern="[0-9a-f]{24}|nobody" /></label>
      <label>Status <${FilterField} name="status" value=${given.status} inputmode="numeric" placeholder="429" pattern="[1-5][0-9][0-9]" size="5" /></label>
      <label>Route <${FilterField} name="route" value=${given.route} placeholder="/shops/{idOrName}/messages" size="28" /></label>
      <label>Code <${FilterField} name="code" value=${given.code} placeholder="RECIPIENT_OPTED_OUT" size="22" /></label>
      <label class="check"><input type="checkbox" name="refused" value="true" checked=${given.refused === 'true'} /> Only refused</label>
    <//>
    <${Failure} failure=${log.failure} />
    <section class="panel">
      <${Table} caption="Requests, newest first" empty="No request matches." rows=${log.items} failure=${log.failure} columns=${columns}
        keyOf=${keyOf} />
      <${More} next=${log.next} isBusy=${log.isBusy} />
    </section>
  `;
}

const columns = [
  { name: 'At', cell: (/** @type {LoggedRequest} */ { at }) => html`<${When} at=${at} dated />` },
  {
    name: 'Status',
    cell: (/** @type {LoggedRequest} */ { status, code }) =>
      html`<${Answered} status=${status} code=${code} />`,
  },
  {
    name: 'Route',
    place: /** @type {const} */ ('full'),
    cell: (/** @type {LoggedRequest} */ { method, route }) => html`${method} <code>${route}</code>`,
  },
  {
    name: 'Took',
    numeric: true,
    cell: (/** @type {LoggedRequest} */ { latencyMs }) => milliseconds(latencyMs),
  },
  {
    name: 'Tenant',
    cell: (/** @type {LoggedRequest} */ { tenantId }) =>
      tenantId === null
        ? html`<${Badge} state="nobody" />`
        : html`<a href=${address(`/tenants/${tenantId}`)}><code>${shortId(tenantId)}</code></a>`,
  },
  { name: 'From', place: /** @type {const} */ ('wide'), cell: (/** @type {LoggedRequest} */ { ip }) => ip },
  {
    name: 'Request id',
    place: /** @type {const} */ ('wide'),
    cell: (/** @type {LoggedRequest} */ { requestId, traceparent }) =>
      html`<code class="wrap whole-id" title=${traceparent === null ? undefined : `trace ${traceparent.slice(3, 35)}`}>${requestId}</code>`,
  },
];
