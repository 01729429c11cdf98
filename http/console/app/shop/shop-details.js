// @ts-check
import { html, useState } from '/console/preact.js';
import { usePages } from '../asking.js';
import { meaningOf } from '../codes.js';
import { count, shortId, span, words } from '../format.js';
import { useEvents } from '../live.js';
import { Badge, Facts, Failure, More, Panel, Table, When } from '../parts.js';
import { Batches } from './batches.js';
import { Scheduled } from './scheduled.js';
import { StateChart } from './state-chart.js';
import { Windows } from './windows.js';
/** @import { Details, InspectedShop, Machine, Message, Transition } from '../answers.js' */

/** @param {{ shop: InspectedShop, machines: Machine[] | undefined, path: string }} props */
export function ShopDetails({ shop, machines, path }) {
  const { details } = shop;
  // A shop that cannot be loaded has no chart; its last error shows the reason.
  if (details === null)
    return html`<${Panel} title="Actor and errors"><${Facts} facts=${actorFacts(shop)} /><//>`;
  return html`<div class="shop-details">
    <div class="thirds">
      ${machines?.map(
        (machine) => html`
          <${Panel} title=${machine.id === 'channel' ? 'Channel' : 'Pacing'}>
            <${StateChart} machine=${machine} current=${(machine.id === 'channel' ? details.channel : details.pacing).state}
              last=${lastStep(details.transitions, machine.id)} />
          <//>
        `,
      )}
      <${Panel} title="Last transitions"><${Transitions} transitions=${details.transitions} /><//>
    </div>
    <div class="side">
      <${Panel} title="Send policy" more=${shop.policy && html`<span class="muted">warm-up day ${shop.policy.warmupDay}</span>`}>
        <${Windows} windows=${shop.policy?.windows ?? []} />
      <//>
      <div class="stack">
        <${Panel} title="Queue" more=${html`<span class="muted">${queued(details)}</span>`}>
          <${Queue} details=${details} />
        <//>
        ${details.scheduled > 0 && html`<${Scheduled} path=${path} />`}
        <${Batches} path=${path} running=${details.batches} />
        <${Messages} path=${path} shopId=${shop.shopId} />
      </div>
    </div>
    <div class="columns">
      <${Panel} title="Session"><${Facts} facts=${sessionFacts(details, shop.session)} /><//>
      <${Panel} title="Actor and errors"><${Facts} facts=${actorFacts(shop)} /><//>
    </div>
  </div>`;
}

/** @param {Details} details */
function queued({ queue, scheduled, batches }) {
  const parts = [`${count(queue.depth)} waiting`];
  if (scheduled > 0) parts.push(`${count(scheduled)} scheduled`);
  if (batches > 0) parts.push(batches === 1 ? '1 batch' : `${count(batches)} batches`);
  return parts.join(', ');
}

/**
 * The last step of a machine that led to another state.
 * @param {Transition[]} transitions
 * @param {string} id
 */
function lastStep(transitions, id) {
  return transitions.findLast(({ machine, from, to }) => machine === id && from !== to);
}

/** @param {{ transitions: Transition[] }} props */
function Transitions({ transitions }) {
  return html`
    <${Table}
      tight
      caption="Last transitions, newest first"
      empty="None since this shop was loaded."
      rows=${transitions.toReversed().slice(0, 11)}
      keyOf=${(/** @type {Transition} */ step) => `${step.atMs}${step.machine}${step.event}${step.from}${step.to}`}
      columns=${[
        { name: 'At', cell: (/** @type {Transition} */ { atMs }) => html`<${When} at=${atMs} />` },
        {
          name: 'Step',
          cell: (/** @type {Transition} */ { from, to }) =>
            from === to ? words(to) : `${words(from)} → ${words(to)}`,
        },
        { name: 'On', cell: (/** @type {Transition} */ { event }) => html`<code>${event}</code>` },
      ]}
    />
  `;
}

/** @typedef {(NonNullable<Details['queue']['inHand']> | Details['queue']['waiting'][number]) & { place: string | number, unlessSent?: { reason: string, atMs: number } }} WaitingRow */

/** @param {{ details: Details }} props */
function Queue({ details }) {
  const { inHand, waiting, depth } = details.queue;
  const rows = [
    ...(inHand === null ? [] : [{ ...inHand, place: 'in progress' }]),
    ...waiting.map((each, index) => ({ ...each, place: index + 1 })),
  ];
  return html`
    <${Table}
      caption="Messages that wait, in order"
      empty="Nothing waits."
      rows=${rows.slice(0, 20)}
      keyOf=${(/** @type {WaitingRow} */ { messageId }) => messageId}
      columns=${[
        { name: 'Place', cell: (/** @type {WaitingRow} */ { place }) => place },
        {
          name: 'To',
          cell: (/** @type {WaitingRow} */ { to, kind }) => (kind === 'status' ? 'status post' : to),
        },
        {
          name: 'Age',
          numeric: true,
          cell: (/** @type {WaitingRow} */ { createdAtMs }) => span(Date.now() - createdAtMs),
        },
        {
          name: 'Unless sent',
          cell: (/** @type {WaitingRow} */ { unlessSent }) =>
            unlessSent === undefined
              ? html`<${Badge} state=${details.pacing.state} />`
              : html`<code>${unlessSent.reason}</code> <${When} at=${unlessSent.atMs} relative />`,
        },
      ]}
    />
    ${depth > 20 && html`<p class="muted">and ${count(depth - 20)} more</p>`}
  `;
}

const STATUSES = ['queued', 'sending', 'sent', 'failed', 'rejected'];

/** @param {Message} message */
const keyOf = ({ id }) => id;

/** @param {{ path: string, shopId: string }} props */
function Messages({ path, shopId }) {
  const [status, setStatus] = useState('');
  const listed = usePages(`${path}/messages?limit=12${status === '' ? '' : `&status=${status}`}`, {
    everyMs: 5_000,
    keyOf,
  });
  useEvents(
    (event) => {
      if (event.type === 'message' && event.shopId === shopId) listed.refresh();
    },
    [shopId, status],
  );
  const filter = html`
    <select aria-label="Status of the messages" value=${status}
      onChange=${(/** @type {Event} */ event) => setStatus(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}>
      <option value="">all</option>
      ${STATUSES.map((each) => html`<option value=${each}>${each}</option>`)}
    </select>
  `;
  return html`
    <${Panel} title="Messages" more=${filter}>
      <${Failure} failure=${listed.failure} />
      <${Table}
        caption="Messages, newest first"
        empty="None."
        rows=${listed.items}
        failure=${listed.failure}
        keyOf=${keyOf}
        columns=${[
          {
            name: 'Accepted',
            cell: (/** @type {Message} */ { createdAt }) => html`<${When} at=${createdAt} />`,
          },
          {
            name: 'To',
            cell: (/** @type {Message} */ { to, kind }) => (kind === 'status' ? 'status post' : to),
          },
          {
            name: 'Status',
            place: 'full',
            cell: (/** @type {Message} */ message) =>
              html`<${Badge} state=${message.status} />${message.reason !== null && html` <code>${message.reason}</code> <small class="muted">${meaningOf(message.reason)}</small>`}`,
          },
          {
            name: 'Took',
            numeric: true,
            cell: (/** @type {Message} */ { createdAt, sentAt }) =>
              sentAt === null ? '–' : span(Date.parse(sentAt) - Date.parse(createdAt)),
          },
          { name: 'Delivered', cell: delivered },
          {
            name: 'Id, request',
            cell: (/** @type {Message} */ { id, requestId }) =>
              html`<code title=${id}>${shortId(id)}</code><br />${requestId === null ? '–' : html`<code class="muted" title=${requestId}>${shortId(requestId)}</code>`}`,
          },
        ]}
      />
      <${More} next=${listed.next} isBusy=${listed.isBusy} />
    <//>
  `;
}

/**
 * Shows the receipts of a message. Many recipients never send read receipts.
 * @param {Message} message
 */
function delivered({ deliveredAt, readAt, deliveredCount, readCount }) {
  if (deliveredAt === null) return '–';
  const word = readAt === null ? 'delivered' : 'read';
  const of = deliveredCount === undefined ? '' : ` (${deliveredCount}, read by ${readCount})`;
  return html`${word}${of} <${When} at=${readAt ?? deliveredAt} />`;
}

/**
 * @param {Details} details
 * @param {InspectedShop['session']} session
 */
function sessionFacts({ channel, groups, egress }, session) {
  const own = [
    ['Egress', egress === null ? "the node's own address" : html`<code class="wrap">${egress}</code>`],
    ['Number', channel.phone === null ? '–' : `+${channel.phone}`],
    ['Paired', html`<${When} at=${channel.pairedAtMs} relative />`],
    [
      'Without session',
      channel.downSinceMs === null ? 'no' : `for ${span(Date.now() - channel.downSinceMs)}`,
    ],
    ['Attempts since open', count(channel.attempts)],
    ['Next attempt', html`<${When} at=${channel.reconnectAtMs} relative />`],
    ['Session no.', count(channel.generation)],
    ['Groups', groups === null ? 'not told' : count(groups)],
  ];
  const live = Object.entries(session ?? {}).filter(
    ([name, value]) => name !== 'generation' && (typeof value !== 'object' || value === null),
  );
  return [...own, ...live.map(([name, value]) => [factName(name), factValue(name, value)])];
}

/** @param {string} name as in `lastHeardAtMs` */
function factName(name) {
  const text = name
    .replace(/(At|Since)?Ms$/, '$1')
    .replace(/([A-Z])/g, ' $1')
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function factValue(name, value) {
  if (/(At|Since)Ms$/.test(name) && typeof value === 'number') return html`<${When} at=${value} relative />`;
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))
    return html`<${When} at=${value} relative />`;
  if (typeof value === 'number') return name.endsWith('Ms') ? span(value) : count(value);
  return value === null ? '–' : String(value);
}

/** @param {InspectedShop} shop */
function actorFacts({ owner, shard, mailbox, restarts, lastError, timers, details }) {
  // Every pairing ends its first session with this. It is not an error.
  const end = details?.channel.lastEnd ?? null;
  const lastEnd = end?.end === 'restart_required' ? null : end;
  return [
    [
      'Last error',
      lastError === undefined
        ? 'none'
        : html`${lastError.message} (<${When} at=${lastError.atMs} relative />)`,
    ],
    [
      'Last session end',
      lastEnd === null
        ? 'none'
        : html`${words(lastEnd.end)}${lastEnd.statusCode === null ? '' : ` ${lastEnd.statusCode}`}${lastEnd.detail === '' ? '' : `, ${lastEnd.detail}`} (<${When} at=${lastEnd.atMs} relative />)`,
    ],
    ['Restarts', count(restarts)],
    ['Mailbox', `${count(mailbox.depth)} commands, ${count(mailbox.bytes)} bytes`],
    [
      'Timers',
      timers.length === 0
        ? 'none'
        : html`<ul class="plain">${timers.map(({ id, dueAtMs }) => html`<li><code>${id}</code> <${When} at=${dueAtMs} relative /></li>`)}</ul>`,
    ],
    ['Node', owner.nodeId],
    ['Shard and epoch', `${shard}, ${owner.epoch}`],
  ];
}
