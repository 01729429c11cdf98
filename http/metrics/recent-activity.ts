import { isFinal, MESSAGE_REASONS } from '../../actors/message-status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';
import { ERRORS } from '../contract/errors.ts';
import type { OperatorEventFeed } from '../operator-events/operator-event.ts';
import type { Metrics } from './metrics.ts';

/** Length of one interval, and number of intervals kept. */
export const INTERVAL_MS = 5_000;
const KEPT_INTERVALS = 180;
/** Upper bounds of the latency counts, in milliseconds. One more count has all latencies above. */
export const LATENCY_BOUNDS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] as const;

/**
 * Routes without a latency. They wait for the chat network or for events, so their time does not measure the service.
 */
const WAITING_ROUTE = /\/(connect|pairing-code|events)$/;

/** Upper bounds in seconds of the time to `sent`: from a simulator's milliseconds up to a day in the queue. */
const SENT_BUCKETS_SECONDS = [
  0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 14_400, 86_400,
];

const PUBLIC_CODES = [...new Set(Object.values(ERRORS).map(({ code }) => code))];

/** The final states of messages: status and reason. */
const ENDS = [
  { status: 'sent', reason: '' },
  ...Object.entries(MESSAGE_REASONS).map(([reason, status]) => ({ status, reason })),
];

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

/** The last fifteen minutes of a node's work for tenants, and the same counts since it started for Prometheus. */
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
  readonly metrics: Metrics;
}): RecentActivity {
  const { clock, feed, metrics } = options;
  const intervals: ActivityInterval[] = [];
  const countRefused = metrics.counted(
    'msgapi_http_refusals_total',
    'Requests refused, by the code of the error.',
    PUBLIC_CODES.map((code) => ({ code })),
  );
  const countSettled = metrics.counted(
    'msgapi_messages_settled_total',
    'Messages that reached their end, by status and reason.',
    ENDS,
  );
  const observeSent = metrics.histogram({
    name: 'msgapi_message_sent_seconds',
    help: 'From accepting a message until the chat network acknowledged it, pauses between sends included',
    bounds: SENT_BUCKETS_SECONDS,
  });
  const countPaused = metrics.counted(
    'msgapi_queue_pauses_total',
    'Times a queue was paused, by cause.',
    ['operator', 'rate_signal'].map((cause) => ({ cause })),
  );

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
      countSettled({ status, reason: reason ?? '' });
      if (status === 'sent') observeSent(data.ageMs / 1_000);
    }
    if (type === 'pacing' && data.began !== null) countPaused({ cause: data.began });
  });

  return {
    countRequest({ atMs, route, latencyMs, errorCode }) {
      const interval = intervalOf(atMs);
      interval.requests += 1;
      if (!WAITING_ROUTE.test(route)) countLatency(interval, latencyMs);
      if (errorCode === undefined) return;
      interval.errors[errorCode] = (interval.errors[errorCode] ?? 0) + 1;
      countRefused({ code: errorCode });
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
