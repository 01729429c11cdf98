import { cursorOf } from '../../actors/tenants/event-cursor.ts';
import { type EventWait, MOST_EVENT_WAITS, NO_ROOM_TO_WAIT } from '../../actors/tenants/event-waiters.ts';
import { parameterName } from '../contract/query-parameters.ts';
import type { FollowDeclaration, WaitDeclaration } from '../contract/waiting.ts';

/** The largest `waitMs` that is accepted (docs/contract.md, Events). */
export const MOST_WAIT_MS = 30_000;
/**
 * The longest a call waits, whatever it asks for. Proxies and load balancers often give up after 30 s without an answer,
 * so a wait of 30 s would end in their time-out instead of in a reply.
 */
export const LONGEST_WAIT_MS = 25_000;

/** How a call waits for the next event. */
export const EVENT_WAITS: WaitDeclaration<EventWait> = {
  mostMs(query) {
    const waitMs = Number(new URLSearchParams(query).get('waitMs'));
    return waitMs > 0 ? Math.min(waitMs, LONGEST_WAIT_MS) : 0;
  },
  mostCalls: MOST_EVENT_WAITS.node,
  noRoom: NO_ROOM_TO_WAIT,
  continued: (query, wait) => placedQuery(query, cursorOf(wait.place), 0),
};

/** The largest page, since a stream gets them one at a time. */
const STREAM_PAGE = '100';

/** The pages of a stream of events. */
export const EVENT_PAGES: FollowDeclaration = {
  page: (query, place, waitMs) =>
    placedQuery([...without(query, ['limit']), `limit=${STREAM_PAGE}`].join('&'), place, waitMs),
};

/** A query with another place and wait in it. A place that is empty stays the query's. */
function placedQuery(query: string, place: string, waitMs: number): string {
  const own = without(query, place === '' ? ['waitMs'] : ['waitMs', 'cursor']);
  const cursor = place === '' ? [] : [`cursor=${encodeURIComponent(place)}`];
  return [...own, ...cursor, `waitMs=${waitMs}`].join('&');
}

function without(query: string, names: readonly string[]): string[] {
  return query.split('&').filter((pair) => !names.includes(parameterName(pair) ?? ''));
}
