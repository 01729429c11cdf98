// @ts-check
import { html, useState } from '/console/preact.js';
import { useAction, useAnswer } from '../asking.js';
import { clockTime, count, milliseconds, shortId, words } from '../format.js';
import { useRecentEvents } from '../live.js';
import { Badge, Failure, Panel, RoleButton, SilentNodes, Table } from '../parts.js';
import { Plot } from '../plot.js';
import { address, shopAddress, useTitle } from '../route.js';
import { call } from '../session.js';
import { ShardMap } from '../shard-map.js';
import { shopStatus } from '../shop/shop-status.js';
import { nameOf } from './shops.js';

/** @import { LiveEvent } from '../live.js' */
/** @import { Answer, Page } from '../asking.js' */
/** @import { FleetOverview, Resumed, SeriesPoint, Shop } from '../answers.js' */

const CHANNEL_STATES = ['connected', 'starting', 'qr_waiting', 'disconnected'];
const SHOWN_CODES = 4;

export function Overview() {
  /** @type {Answer<FleetOverview>} */
  const { data, failure } = useAnswer('/overview', { everyMs: 2_000 });
  useTitle('Overview');
  return html`
    <h1 tabindex="-1">Overview</h1>
    <${Failure} failure=${failure} />
    ${data === undefined && failure === undefined && html`<p class="muted" aria-busy="true">Loading…</p>`}
    ${data !== undefined && html`<${FleetFigures} overview=${data} />`}
  `;
}

/** @param {{ overview: FleetOverview }} props */
function FleetFigures({ overview }) {
  const { nodes, shards, states, silentNodes, nodesWithoutWorkers, suspendedTenants } = overview;
  const owned = shards.filter(({ nodeId }) => nodeId !== null).length;
  const margin = Math.min(...nodes.map(({ leaseMarginMs }) => leaseMarginMs ?? Infinity));
  return html`
    <${SilentNodes} nodes=${silentNodes} />
    ${nodesWithoutWorkers.length > 0 && html`<p class="failure" role="alert">No session worker on ${nodesWithoutWorkers.join(', ')}: what its shops send is refused with BOT_SERVICE_UNREACHABLE. Workers start again by themselves; the node's log says what ends them.</p>`}
    ${suspendedTenants.length > 0 && html`<p class="failure" role="alert">Suspended after too many crashes, so that every call is refused: ${suspendedTenants.map((id) => html`<a href=${address(`/tenants/${id}`)}>Tenant ${shortId(id)}</a> `)}</p>`}
    <${ResumeAll} isOffered=${(states.suspended ?? 0) > 0 || suspendedTenants.length > 0} />
    <dl class="tiles">
      <${Tile} name="Nodes" value=${count(nodes.length)} more=${`lease holds ${milliseconds(margin)}`} />
      <${Tile} name="Shards owned" value=${`${owned} / ${shards.length}`} isBad=${owned < shards.length} />
      <${Tile} name="Active shops" value=${count(overview.shops)} more=${`${count(states.connected ?? 0)} connected`} />
      <${Tile} name="Messages waiting" value=${count(overview.queued)} more=${`${count(overview.scheduled)} for later, ${count(overview.mailboxDepth)} in mailboxes`} />
      <${Tile} name="Paused or held" value=${count((states.paused ?? 0) + (states.held ?? 0))} />
      <${Tile} name="Lost or suspended" value=${count((states.flagged ?? 0) + (states.suspended ?? 0))} isBad=${(states.flagged ?? 0) + (states.suspended ?? 0) > 0} />
    </dl>
    <${Plots} series=${overview.series} slotMs=${overview.slotMs} />
    <div class="columns">
      <${Panel} title="Sessions by state"><${Sessions} states=${states} /><//>
      <${Panel} title="Needs attention" more=${html`<a href=${address('/shops', { sort: 'trouble' })}>All shops</a>`}><${Troubled} /><//>
      <${Panel} title="Nodes and shards"><${ShardMap} nodes=${nodes} shards=${shards} /><//>
      <${Panel} title="Happening now"><${Ticker} /><//>
    </div>
  `;
}

/**
 * Resumes all suspended actors and shows how many. The count is still shown when nothing is suspended any more.
 * @param {{ isOffered: boolean }} props
 */
function ResumeAll({ isOffered }) {
  const action = useAction();
  const [answer, setAnswer] = useState(/** @type {Resumed | undefined} */ (undefined));
  const resume = () =>
    action.run(async () => setAnswer(await call('/resume-all', { method: 'POST', body: {} })));
  if (!isOffered && answer === undefined) return null;
  return html`
    <${Failure} failure=${action.failure} />
    <div class="controls" role="group" aria-label="What is suspended">
      ${isOffered && html`<${RoleButton} role="operate" disabled=${action.isBusy} onClick=${resume}>Resume everything suspended<//>`}
      ${answer !== undefined && html`<span role="status">${count(answer.resumed)} started again${answer.left > 0 && `, ${count(answer.left)} left`}${answer.silentNodes.length > 0 && `, no answer from ${answer.silentNodes.join(', ')}`}</span>`}
    </div>
  `;
}

/** @param {{ name: string, value: string, more?: string, isBad?: boolean }} props */
function Tile({ name, value, more, isBad = false }) {
  return html`<div class=${isBad ? 'bad' : ''}><dt>${name}</dt><dd>${value}${more && html`<small>${more}</small>`}</dd></div>`;
}

/** @param {{ series: SeriesPoint[], slotMs: number }} props */
function Plots({ series, slotMs }) {
  const seconds = slotMs / 1_000;
  const codes = frequent(series.map(({ errors }) => errors));
  const outcomes = [
    'sent',
    ...frequent(series.map(({ messages }) => messages)).filter((name) => name !== 'sent'),
  ];
  const points = (/** @type {(point: SeriesPoint) => (number | null)[]} */ values) =>
    series.map((point) => ({ at: point.at, values: values(point) }));
  const rate = (/** @type {number} */ value) => `${count(value)}/s`;
  return html`
    <section class="plots" aria-label="The last fifteen minutes">
      <${Plot} slotMs=${slotMs} title="API requests" names=${['requests']} show=${rate}
        points=${points(({ requests }) => [requests / seconds])} />
      <${Plot} slotMs=${slotMs} title="API latency" names=${['p50', 'p99']} show=${milliseconds}
        points=${points(({ p50Ms, p99Ms }) => [p50Ms, p99Ms])} />
      <${Plot} slotMs=${slotMs} stacked title="Refusals by code" names=${codes.length === 0 ? ['none'] : codes} show=${count}
        points=${points(({ errors }) => codes.map((code) => errors[code] ?? 0))} />
      <${Plot} slotMs=${slotMs} stacked title="Messages by outcome" names=${outcomes} show=${count}
        points=${points(({ messages }) => outcomes.map((outcome) => messages[outcome] ?? 0))} />
    </section>
  `;
}

/**
 * Returns the names with the highest counts.
 * @param {Record<string, number>[]} counts
 */
function frequent(counts) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const each of counts) {
    for (const [name, value] of Object.entries(each)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN_CODES)
    .map(([name]) => name);
}

/** @param {{ states: Record<string, number> }} props */
function Sessions({ states }) {
  const total = CHANNEL_STATES.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return html`
    <div class="shares" aria-hidden="true">
      ${CHANNEL_STATES.filter((state) => total === 0 || states[state]).map(
        (state) => html`<i class=${state} style=${{ flexGrow: total === 0 ? 1 : (states[state] ?? 0) }}></i>`,
      )}
    </div>
    <ul class="legend spread">
      ${CHANNEL_STATES.map(
        (state) =>
          html`<li><i class=${state}></i><a href=${address('/shops', { state })}>${words(state)}</a> <b>${count(states[state] ?? 0)}</b></li>`,
      )}
    </ul>
  `;
}

/** @typedef {{ shop: Shop, said: ReturnType<typeof shopStatus> }} TroubledShop */

function Troubled() {
  /** @type {Answer<Page<Shop>>} */
  const { data } = useAnswer('/actors?sort=trouble&limit=6', { everyMs: 4_000 });
  const rows = data?.items
    .map((shop) => ({ shop, said: shopStatus(shop) }))
    .filter(({ said }) => ['warn', 'bad'].includes(said.tone));
  return html`
    <${Table}
      caption="Shops that need attention"
      empty="Every active shop is well."
      rows=${rows}
      keyOf=${(/** @type {TroubledShop} */ { shop }) => shop.shopId}
      columns=${[
        {
          name: 'Shop',
          cell: (/** @type {TroubledShop} */ { shop }) =>
            html`<a href=${shopAddress(shop)}>${nameOf(shop)}</a>`,
        },
        {
          name: 'Why',
          place: 'full',
          cell: (/** @type {TroubledShop} */ { said }) => said.text,
        },
      ]}
    />
  `;
}

/**
 * The fields of any event that the ticker shows.
 * @typedef {object} TickerRow
 * @property {LiveEvent['type']} type
 * @property {string} at
 * @property {string} [tenantId]
 * @property {string} [shopId]
 * @property {string} [shop]
 * @property {string} [messageId]
 * @property {string} [webhookId]
 * @property {string} [nodeId]
 * @property {string | null} [reason]
 * @property {string} [disabledBy]
 * @property {string} [status]
 * @property {string} [state]
 * @property {string} [standing]
 */

/** Returns a link to the tenant of a webhook's event, and nothing for other events. @param {TickerRow} event */
const webhookOf = ({ tenantId, webhookId }) =>
  webhookId === undefined
    ? ''
    : html`<a href=${address(`/tenants/${tenantId}`)}>webhook ${shortId(webhookId)}</a>`;

function Ticker() {
  /** @type {readonly TickerRow[]} */
  const events = useRecentEvents().slice(0, 12);
  return html`
    <${Table}
      tight
      caption="Newest events"
      empty="Nothing has happened since this page was opened."
      rows=${events}
      keyOf=${(/** @type {TickerRow} */ event) => `${event.at}${event.type}${event.messageId ?? event.shopId ?? event.webhookId ?? event.nodeId ?? ''}${event.status ?? event.state ?? ''}`}
      columns=${[
        { name: 'At', cell: (/** @type {TickerRow} */ { at }) => clockTime(at) },
        { name: 'What', cell: (/** @type {TickerRow} */ { type }) => words(type) },
        {
          name: 'State',
          cell: (/** @type {TickerRow} */ event) =>
            html`<${Badge} state=${event.reason ?? event.disabledBy ?? event.status ?? event.state ?? event.standing ?? event.type} />`,
        },
        {
          name: 'Shop',
          cell: (/** @type {TickerRow} */ event) =>
            event.tenantId === undefined || event.shopId === undefined
              ? (event.nodeId ?? webhookOf(event))
              : html`<a href=${shopAddress({ tenantId: event.tenantId, shopId: event.shopId })}>${event.shop ?? event.shopId}</a>`,
        },
      ]}
    />
  `;
}
