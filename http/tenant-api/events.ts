import * as v from 'valibot';
import { EVENT_TYPES } from '../../actors/tenants/tenant-event.ts';
import { reply } from '../contract/endpoint.ts';
import { EXAMPLES } from '../contract/examples.ts';
import { cursorParameter, integerParameter, limitParameter } from '../contract/query-parameters.ts';
import { event, eventPage } from '../contract/resources.ts';
import { EVENT_PAGES, EVENT_WAITS, LONGEST_WAIT_MS, MOST_WAIT_MS } from './event-query.ts';
import { NAMED_SHOP_ERRORS } from './named-shop.ts';
import { apiEndpoint } from './services.ts';

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
    `How long a call without news waits for the first event, in milliseconds. It is answered after ${LONGEST_WAIT_MS} at the latest, also when more is asked for.`,
  ),
  v.transform((value) => Math.min(value, LONGEST_WAIT_MS)),
);

/** GET /events */
export const listEvents = apiEndpoint({
  name: 'listEvents',
  method: 'GET',
  path: '/events',
  tag: 'Events',
  summary: 'What happened after a cursor, oldest first; waits for the next event on request',
  description:
    'Go on with `nextCursor`: each event comes once, in the order in which it became true. Without a cursor the answer says where now is. A cursor older than the oldest kept event is refused with the oldest, one behind the newest as well; `error.nextCursor` is the cursor to go on from.\n\nWith `Accept: text/event-stream` the reply stays open, as server-sent events: `id` is the cursor behind the event, `event` its type, `data` the event as JSON. Who comes back with `Last-Event-ID` goes on behind it. It ends with an event `end` that says why, when the key may read no more.',
  permission: 'messages.read',
  query: {
    cursor: cursorParameter,
    limit: limitParameter,
    types: v.optional(types),
    shop: v.optional(v.pipe(v.string(), v.description("A shop's id or exact name: its events alone."))),
    waitMs: v.optional(waitMs, '0'),
  },
  replies: {
    200: {
      description: `Events, none when none came in time: within \`waitMs\`, and within ${LONGEST_WAIT_MS / 1_000} s in any case.`,
      data: eventPage(event),
      example: { items: [EXAMPLES.event], nextCursor: EXAMPLES.event.id },
    },
  },
  errors: NAMED_SHOP_ERRORS,
  waits: EVENT_WAITS,
  followed: EVENT_PAGES,
  async handle({ caller, query, services, wait }) {
    const { cursor, limit, types, shop, waitMs } = query;
    const named = shop === undefined ? undefined : await services.tenants.shopId(caller.tenantId, shop);
    if (named?.ok === false) return named;
    const shopId = named?.value;
    const withoutInbound = !caller.permissions.has('inbound.read');
    const asked = { cursor, limit, types, shopId, withoutInbound, waitMs, wait, keyId: caller.keyId };
    const listed = await services.events.list(caller.tenantId, asked);
    if (!listed.ok) return listed;
    const { items, nextCursor, wait: waitsOn } = listed.value;
    return { ...reply(200, { items, nextCursor }), wait: waitsOn };
  },
});
