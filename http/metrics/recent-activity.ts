import type { Clock } from '../../runtime/clock.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';
import type { OperatorEventFeed } from '../operator-events/operator-event.ts';
import { onMessageEnd } from './message-ends.ts';

/** Length of one interval, and number of intervals kept. */
export const INTERVAL_MS = 5_000;
export const KEPT_INTERVALS = 180;
/** Upper bounds of the latency counts, in milliseconds. One more count has all latencies above. */
export const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const;

/**
 * Routes without a latency. They wait for the chat network or for events, so their time does not measure the service.
 */
const WAITING_ROUTE = /\/(connect|pairing-code|events)$/;

/** The activity of one node in five seconds. Plain numbers, so that intervals of several nodes can be added. */
export interface ActivityInterval {
  /** Milliseconds since the epoch, a multiple of `INTERVAL_MS`. */
  readonly atMs: number;
  requests: number;
  /** Refusals by code. */
  readonly errors: Record<string, number>;
  /** Requests by latency: a count for each bound, and one for all above. */
  readonly latencies: number[];
  /** Messages that ended: `sent`, or the reason why they were not sent. */
  readonly messages: Record<string, number>;
}

export function emptyInterval(atMs: number): ActivityInterval {
  const latencies = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0);
  return { atMs, requests: 0, errors: {}, latencies, messages: {} };
}

/** The last fifteen minutes of a node's work for tenants: the requests that it is given, and the feed's messages. */
export class RecentActivity {
  readonly #clock: Clock;
  readonly #intervals: ActivityInterval[] = [];

  constructor({ clock, feed }: { readonly clock: Clock; readonly feed: OperatorEventFeed }) {
    this.#clock = clock;
    onMessageEnd(feed, ({ status, reason }) => {
      const { messages } = this.#intervalOf(clock.wallMs());
      const name = status === 'sent' ? 'sent' : String(reason);
      messages[name] = (messages[name] ?? 0) + 1;
    });
  }

  countRequest(request: Pick<AnsweredRequest, 'atMs' | 'route' | 'latencyMs' | 'errorCode'>): void {
    const { atMs, route, latencyMs, errorCode } = request;
    const interval = this.#intervalOf(atMs);
    interval.requests += 1;
    if (!WAITING_ROUTE.test(route)) countLatency(interval, latencyMs);
    if (errorCode === undefined) return;
    interval.errors[errorCode] = (interval.errors[errorCode] ?? 0) + 1;
  }

  /** Returns the intervals in which something happened, oldest first. */
  intervals(): readonly ActivityInterval[] {
    // A node without calls makes no new intervals.
    this.#forgetOld(intervalStart(this.#clock.wallMs()));
    return this.#intervals;
  }

  #intervalOf(nowMs: number): ActivityInterval {
    const atMs = intervalStart(nowMs);
    const newestInterval = this.#intervals.at(-1);
    if (newestInterval !== undefined && newestInterval.atMs >= atMs) return newestInterval;
    const interval = emptyInterval(atMs);
    this.#intervals.push(interval);
    this.#forgetOld(atMs);
    return interval;
  }

  #forgetOld(newestMs: number): void {
    const oldestKeptMs = newestMs - KEPT_INTERVALS * INTERVAL_MS;
    while ((this.#intervals[0]?.atMs ?? newestMs) <= oldestKeptMs) this.#intervals.shift();
  }
}

function intervalStart(ms: number): number {
  return Math.floor(ms / INTERVAL_MS) * INTERVAL_MS;
}

function countLatency({ latencies }: ActivityInterval, latencyMs: number): void {
  let bound = 0;
  while (bound < LATENCY_BOUNDS_MS.length && latencyMs > (LATENCY_BOUNDS_MS[bound] ?? 0)) bound += 1;
  latencies[bound] = (latencies[bound] ?? 0) + 1;
}
