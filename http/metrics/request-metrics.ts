import type { AnsweredRequest } from '../request-log/answered-request.ts';
import type { Metrics } from './metrics.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface RouteNumbers {
  readonly method: string;
  readonly route: string;
  readonly byStatus: Map<number, number>;
  /** One count a bucket, and one for all above. */
  readonly buckets: number[];
  sumSeconds: number;
  count: number;
}

/** Makes a counter of one listener's requests, whose routes get this prefix. */
export type RequestCounters = (prefix: string) => (answered: AnsweredRequest) => void;

/**
 * Requests by route and status, and their latencies. Counted in plain numbers and rendered when asked, because
 * prom-client's own labels cost several times as much as all else that is done for a request.
 */
export function countRequests(metrics: Metrics): RequestCounters {
  const all: RouteNumbers[] = [];

  function addNumbers(method: string, route: string): RouteNumbers {
    const numbers = {
      method,
      route,
      byStatus: new Map<number, number>(),
      buckets: new Array<number>(BUCKETS_SECONDS.length + 1).fill(0),
      sumSeconds: 0,
      count: 0,
    };
    all.push(numbers);
    return numbers;
  }

  metrics.source({
    name: 'msgapi_http_requests_total',
    help: 'Requests answered, by route and status.',
    kind: 'counter',
    read: () =>
      all.flatMap(({ method, route, byStatus }) =>
        [...byStatus].map(([status, value]) => ({
          labels: { method, route, status: String(status) },
          value,
        })),
      ),
  });
  metrics.histogramSource({
    name: 'msgapi_http_request_duration_seconds',
    help: 'How long requests took to answer, by route.',
    bounds: BUCKETS_SECONDS,
    read: () =>
      all.map(({ method, route, buckets, sumSeconds }) => ({
        labels: { method, route },
        counts: buckets,
        sum: sumSeconds,
      })),
  });

  return (prefix) => {
    const byMethod = new Map<string, Map<string, RouteNumbers>>();
    return ({ method, route, status, latencyMs }) => {
      const byRoute = byMethod.get(method) ?? new Map<string, RouteNumbers>();
      const numbers = byRoute.get(route) ?? addNumbers(method, prefix + route);
      if (numbers.count === 0) byMethod.set(method, byRoute.set(route, numbers));
      count(numbers, status, latencyMs);
    };
  };
}

function count(numbers: RouteNumbers, status: number, latencyMs: number): void {
  const seconds = latencyMs / 1000;
  numbers.count += 1;
  numbers.byStatus.set(status, (numbers.byStatus.get(status) ?? 0) + 1);
  numbers.sumSeconds += seconds;
  let bucket = 0;
  while (bucket < BUCKETS_SECONDS.length && seconds > (BUCKETS_SECONDS[bucket] ?? 0)) bucket += 1;
  numbers.buckets[bucket] = (numbers.buckets[bucket] ?? 0) + 1;
}
