import { isFinal } from '../../actors/message-status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';
import type { OperatorEventFeed } from '../operator-events/operator-event.ts';

/** Length of one interval, and number of intervals kept. */
export const INTERVAL_MS = 5_000;
const KEPT_INTERVALS = 180;
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

/** The last fifteen minutes of a node's work for tenants. */
export interface RecentActivity {
  countRequest(request: Pick<AnsweredRequest, 'atMs' | 'route' | 'latencyMs' | 'errorCode'>): void;
  /** Returns the intervals in which something happened, oldest first. */
  intervals(): readonly ActivityInterval[];
}

export function emptyInterval(atMs: number): ActivityInterval {
  const latencies = new Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0);
  return { atMs, requests: 0, errors: {}, latencies, messages: {} };
}

/** Counts the requests that it is given, and the messages of the feed. */
export function recentActivity(options: {
  readonly clock: Clock;
  readonly feed: OperatorEventFeed;
}): RecentActivity {
  const { clock, feed } = options;
  const intervals: ActivityInterval[] = [];

  function intervalOf(nowMs: number): ActivityInterval {
    const atMs = intervalStart(nowMs);
    const newestInterval = intervals.at(-1);
    if (newestInterval !== undefined && newestInterval.atMs >= atMs) return newestInterval;
    const interval = emptyInterval(atMs);
    intervals.push(interval);
    forgetOld(atMs);
    return interval;
  }

  function forgetOld(newestMs: number): void {
    while ((intervals[0]?.atMs ?? newestMs) <= newestMs - KEPT_INTERVALS * INTERVAL_MS) intervals.shift();
  }

  feed.subscribe(({ type, data }) => {
    // A message that the pool carries is also published by its own shop, and counts there.
    if (type === 'message' && data.ageMs !== null && isFinal(data.status)) {
      const { status, reason } = data;
      const interval = intervalOf(clock.wallMs());
      const name = status === 'sent' ? 'sent' : String(reason);
      interval.messages[name] = (interval.messages[name] ?? 0) + 1;
    }
  });

  return {
    countRequest({ atMs, route, latencyMs, errorCode }) {
      const interval = intervalOf(atMs);
      interval.requests += 1;
      if (!WAITING_ROUTE.test(route)) countLatency(interval, latencyMs);
      if (errorCode === undefined) return;
      interval.errors[errorCode] = (interval.errors[errorCode] ?? 0) + 1;
    },
    intervals() {
      // A node without calls makes no new intervals.
      forgetOld(intervalStart(clock.wallMs()));
      return intervals;
    },
  };
}

function intervalStart(ms: number): number {
  return Math.floor(ms / INTERVAL_MS) * INTERVAL_MS;
}

function countLatency({ latencies }: ActivityInterval, latencyMs: number): void {
  let bound = 0;
  while (bound < LATENCY_BOUNDS_MS.length && latencyMs > (LATENCY_BOUNDS_MS[bound] ?? 0)) bound += 1;
  latencies[bound] = (latencies[bound] ?? 0) + 1;
}
