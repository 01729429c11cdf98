import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from '../../bench/harness/bench.ts';
import type { LoadResult } from '../../bench/load/load-plan.ts';

/** Returns a load of four seconds with this number of answered requests. */
const loadOf = (requests: number): LoadResult => ({
  requests,
  durationMs: 4_000,
  perSecond: requests / 4,
  byStatus: { 202: requests },
  made: requests,
  latencyMs: { p50: 1, p90: 1, p99: 1, p999: 1, max: 1 },
  p99FromWriteMs: 1,
  p99ByTenthMs: [],
  overloaded: { count: 0, p99Ms: 0, lastMs: 0 },
  cpuMs: {},
  residentMiB: {},
  mostResidentMiB: 0,
  messages: [],
});

test('a load with fewer answered requests than planned has no figures', () => {
  assert.throws(() => figuresOf(loadOf(4_499), 4_500), /4499 requests .* not 4500/);
  assert.equal(figuresOf(loadOf(4_500), 4_500).perSecond, 1_125);
  assert.throws(() => figuresOf(loadOf(0)), /0 requests/);
});
