/** Requests as Prometheus reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeMetrics } from '../../../http/metrics/metrics.ts';
import { refusalCounter, requestCounters } from '../../../http/metrics/request-metrics.ts';

test('each bucket counts the answers within its bound, those below it included', async () => {
  const metrics = makeMetrics();
  const count = requestCounters(metrics)('admin ');
  for (const [status, latencyMs] of [
    [200, 0.4],
    [200, 0.5],
    [200, 3],
    [503, 20_000],
  ] as const) {
    const kind = { tenantId: undefined, keyId: undefined, method: 'GET', route: '/nodes', status };
    count({ ...kind, atMs: 0, requestId: '', latencyMs, ip: '', errorCode: undefined });
  }
  const text = await metrics.text();
  const bucket = (bound: string) =>
    new RegExp(
      `^msgapi_http_request_duration_seconds_bucket\\{method="GET",route="admin /nodes",le="${bound}"\\} (\\d+)$`,
      'm',
    ).exec(text)?.[1];
  assert.deepEqual(['0.0005', '0.001', '0.005', '10', '\\+Inf'].map(bucket), ['2', '2', '3', '3', '4']);
  assert.match(text, /^msgapi_http_requests_total\{method="GET",route="admin \/nodes",status="200"\} 3$/m);
  assert.match(
    text,
    /^msgapi_http_request_duration_seconds_sum\{method="GET",route="admin \/nodes"\} 20\.0039$/m,
  );
  assert.match(text, /^msgapi_http_request_duration_seconds_count\{method="GET",route="admin \/nodes"\} 4$/m);
  assert.match(text, /^# TYPE msgapi_http_request_duration_seconds histogram$/m);
});

test('a refused request counts by its code, and an answered one does not', async () => {
  const metrics = makeMetrics();
  const countRefusal = refusalCounter(metrics);
  countRefusal({ errorCode: 'RATE_LIMITED' });
  countRefusal({ errorCode: undefined });
  const text = await metrics.text();
  assert.match(text, /^msgapi_http_refusals_total\{code="RATE_LIMITED"\} 1$/m);
  assert.match(text, /^msgapi_http_refusals_total\{code="CONFLICT"\} 0$/m);
});

test('a help text that ends with a full stop is refused', () => {
  assert.throws(() => makeMetrics().gauge('msgapi_one', 'A figure.', () => 1), /full stop/);
});
