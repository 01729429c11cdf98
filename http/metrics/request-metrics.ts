import type { AnsweredRequest } from '../contract/answered-request.ts';
import { ERRORS } from '../contract/errors.ts';
import type { Metrics } from './metrics.ts';
import { PlainHistogram } from './plain-histogram.ts';

/** Upper bounds of the latency buckets, in seconds. */
const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const PUBLIC_CODES = [...new Set(Object.values(ERRORS).map(({ code }) => code))];

interface RouteNumbers {
  readonly method: string;
  readonly route: string;
  readonly byStatus: Map<number, number>;
  readonly latencies: PlainHistogram;
}

/** Makes a counter of one listener's requests, whose routes get this prefix. */
export type RequestCounters = (prefix: string) => (request: AnsweredRequest) => void;

/** Counts requests by route and status, and their latencies, in plain numbers that are rendered when asked. */
export function requestCounters(metrics: Metrics): RequestCounters {
  const allRoutes: RouteNumbers[] = [];

  metrics.counter('msgapi_http_requests_total', 'Requests answered, by route and status', () =>
    allRoutes.flatMap(({ method, route, byStatus }) =>
      [...byStatus].map(([status, value]) => ({
        labels: { method, route, status: String(status) },
        value,
      })),
    ),
  );
  metrics.histogramSource({
    name: 'msgapi_http_request_duration_seconds',
    help: 'How long requests took to answer, by route',
    bounds: BUCKETS_SECONDS,
    read: () =>
      allRoutes.map(({ method, route, latencies: { counts, sum } }) => ({
        labels: { method, route },
        counts,
        sum,
      })),
  });

  return (prefix) => {
    const byMethod = new Map<string, Map<string, RouteNumbers>>();
    const begin = (method: string, route: string): RouteNumbers => {
      const numbers: RouteNumbers = {
        method,
        route: prefix + route,
        byStatus: new Map(),
        latencies: new PlainHistogram(BUCKETS_SECONDS),
      };
      allRoutes.push(numbers);
      const byRoute = byMethod.get(method) ?? new Map<string, RouteNumbers>();
      byMethod.set(method, byRoute.set(route, numbers));
      return numbers;
    };
    return ({ method, route, status, latencyMs }) => {
      const numbers = byMethod.get(method)?.get(route) ?? begin(method, route);
      numbers.byStatus.set(status, (numbers.byStatus.get(status) ?? 0) + 1);
      numbers.latencies.observe(latencyMs / 1_000);
    };
  };
}

/** Returns a function that counts refused requests by the code that callers see. It ignores a success. */
export function refusalCounter(
  metrics: Pick<Metrics, 'counted'>,
): (request: Pick<AnsweredRequest, 'errorCode'>) => void {
  const countCode = metrics.counted(
    'msgapi_http_refusals_total',
    'Requests refused, by the code of the error',
    PUBLIC_CODES.map((code) => ({ code })),
  );
  return ({ errorCode }) => {
    if (errorCode !== undefined) countCode({ code: errorCode });
  };
}
