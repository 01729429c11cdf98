import * as v from 'valibot';
import { event } from '../../actors/reply-schemas/event-schemas.ts';
import { cursorOf } from '../../actors/tenants/stored-events/event-cursor.ts';
import {
  type EventWait,
  MOST_EVENT_WAITS,
  NO_ROOM_TO_WAIT,
} from '../../actors/tenants/stored-events/event-waiters.ts';
import { EVENT_TYPES } from '../../actors/tenants/stored-events/tenant-event.ts';
import { EXAMPLES } from '../bodies/examples.ts';
import { reply } from '../contract/endpoint.ts';
import { eventPage } from '../contract/list-pages.ts';
import {
  cursorParameter,
  integerParameter,
  limitParameter,
  parameterName,
} from '../contract/query-parameters.ts';
import type { StreamDeclaration, WaitDeclaration } from '../contract/waiting.ts';
import { NAMED_SHOP_ERRORS } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

/** The largest `waitMs` that is accepted (docs/contract.md, Events). */
const MOST_WAIT_MS = 30_000;
/**
 * The longest wait of a call, for any requested wait. Proxies and load balancers often stop after 30 s. A wait of 30 s
 * would end in their time-out, without a reply.
 */
const LONGEST_WAIT_MS = 25_000;

/** Declares how a call waits for the next event. */
export const EVENT_WAITS: WaitDeclaration<EventWait> = {
  mostMs(query) {
    const waitMs = Number(new URLSearchParams(query).get('waitMs'));
    return waitMs > 0 ? Math.min(waitMs, LONGEST_WAIT_MS) : 0;
  },
  mostCalls: MOST_EVENT_WAITS.node,
  noRoom: NO_ROOM_TO_WAIT,
  continueQuery: (query, wait) => placedQuery(query, cursorOf(wait.place), 0),
};

/** The largest page. A stream reads one page at a time. */
const STREAM_PAGE = '100';

/** The pages of a stream of events. */
const EVENT_PAGES: StreamDeclaration = {
  page: (query, place, waitMs) =>
    placedQuery([...withoutNames(query, ['limit']), `limit=${STREAM_PAGE}`].join('&'), place, waitMs),
};

/** Returns a query with another position and wait. An empty position leaves that of the query. */
function placedQuery(query: string, place: string, waitMs: number): string {
  const ownParts = withoutNames(query, place === '' ? ['waitMs'] : ['waitMs', 'cursor']);
  const cursor = place === '' ? [] : [`cursor=${encodeURIComponent(place)}`];
  return [...ownParts, ...cursor, `waitMs=${waitMs}`].join('&');
}

function withoutNames(query: string, names: readonly string[]): string[] {
  return query.split('&').filter((pair) => !names.includes(parameterName(pair) ?? ''));
}

const TYPE = `(${EVENT_TYPES.join('|').replaceAll('.', '\\.')})`;

const types = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`^${TYPE}(,${TYPE})*$`),
    `must be some of ${EVENT_TYPES.join(', ')}, separated by commas`,
  ),
  v.description(`Some of ${EVENT_TYPES.map((type) => `\`${type}\``).join(', ')}, separated by commas.`),
  v.transform((value): ReadonlySet<string> => new Set(value.split(','))),
);

const waitMs = v.pipe(
  integerParameter({ min: 0, max: MOST_WAIT_MS }),
  v.description(
    `How long a call waits if there is no event yet, in milliseconds. Larger values than ${LONGEST_WAIT_MS} count as ${LONGEST_WAIT_MS}.`,
  ),
  v.transform((value) => Math.min(value, LONGEST_WAIT_MS)),
);

export const listEvents = apiEndpoint({
  name: 'listEvents',
  method: 'GET',
  path: '/events',
  tag: 'Events',
  summary: 'List the events after a cursor, oldest first; can wait for the next event',
  description:
    'Continue with `nextCursor`. Each event comes once, in the order in which it happened. Without a cursor the answer has the cursor of the present moment. A cursor older than the oldest kept event is refused, and so is one after the newest. `error.nextCursor` is then the cursor to continue from.\n\nWith `Accept: text/event-stream` the reply stays open, as server-sent events: `id` is the cursor after the event, `event` is its type, and `data` is the event as JSON. A client that reconnects with `Last-Event-ID` continues after that event. If the key may no longer read, the stream ends with an event `end` that gives the reason.',
  permission: 'messages.read',
  query: {
    cursor: cursorParameter,
    limit: limitParameter,
    types: v.optional(types),
    shop: v.optional(
      v.pipe(v.string(), v.description("A shop's id or whole name. Only its events are returned.")),
    ),
    waitMs: v.optional(waitMs, '0'),
  },
  replies: {
    200: {
      description: `The events. There are none if none came within \`waitMs\`, or within ${LONGEST_WAIT_MS / 1_000} s.`,
      data: eventPage(event),
      example: { items: [EXAMPLES.event], nextCursor: EXAMPLES.event.id },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  waits: EVENT_WAITS,
  streamed: EVENT_PAGES,
  async handle({ caller, query, services, call: { wait } }) {
    const { cursor, limit, types, shop, waitMs } = query;
    const namedShop = shop === undefined ? undefined : await services.tenants.shopId(caller.tenantId, shop);
    if (namedShop?.ok === false) return namedShop;
    const shopId = namedShop?.value;
    const hidesInbound = !caller.permissions.has('inbound.read');
    const eventQuery = { cursor, limit, types, shopId, hidesInbound, waitMs, wait, keyId: caller.keyId };
    const page = await services.events.list(caller.tenantId, eventQuery);
    if (!page.ok) return page;
    const { items, nextCursor, wait: waitsOn } = page.value;
    return { ...reply(200, { items, nextCursor }), wait: waitsOn };
  },
});
