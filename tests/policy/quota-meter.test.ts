import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QuotaMeter } from '../../policy/limits/quota-meter.ts';
import { PLANS } from '../../policy/plan.ts';

test('the plans have the shops and calls of docs/contract.md, Quota', () => {
  assert.deepEqual(PLANS, {
    free: { shops: 1, apiCallsPerMonth: 1_000 },
    starter: { shops: 3, apiCallsPerMonth: 50_000 },
    growth: { shops: 20, apiCallsPerMonth: 1_000_000 },
    scale: { shops: 500, apiCallsPerMonth: 50_000_000 },
  });
});

describe('the quota of a calendar month, UTC', () => {
  const lastMs = Date.UTC(2025, 11, 31, 23, 59, 59, 500);
  const nextMs = Date.UTC(2026, 0, 1);
  const spend = (meter: QuotaMeter, count: number, nowMs: number) => {
    for (let index = 0; index < count; index += 1) assert.ok(meter.take({ plan: 'free', nowMs }).isAdmitted);
  };

  test('lets through exactly as many calls as the plan has, and starts again with the month', () => {
    const meter = new QuotaMeter();
    spend(meter, 999, lastMs);
    const last = { isAdmitted: true, limit: 1_000, used: 1_000, remaining: 0, resetsAtMs: nextMs };
    assert.deepEqual(meter.take({ plan: 'free', nowMs: lastMs }), last);
    const refusedDecision = meter.take({ plan: 'free', nowMs: lastMs });
    assert.deepEqual(refusedDecision, { ...last, isAdmitted: false, retryAfterSeconds: 1 });
    assert.equal(meter.take({ plan: 'free', nowMs: nextMs - 1 }).retryAfterSeconds, 1);
    assert.equal(meter.take({ plan: 'free', nowMs: nextMs - 1001 }).retryAfterSeconds, 2);
    const first = {
      isAdmitted: true,
      limit: 1_000,
      used: 1,
      remaining: 999,
      resetsAtMs: Date.UTC(2026, 1, 1),
    };
    assert.deepEqual(meter.take({ plan: 'free', nowMs: nextMs }), first);
  });

  test('ends with its month, in each month of the year', () => {
    for (let month = 0; month < 12; month += 1) {
      const { resetsAtMs } = new QuotaMeter().peek({ plan: 'free', nowMs: Date.UTC(2025, month, 28) });
      assert.equal(resetsAtMs, Date.UTC(2025, month + 1));
    }
  });

  test('a call that may exceed the quota is counted and accepted, and the others are refused', () => {
    const meter = new QuotaMeter();
    spend(meter, 1_000, lastMs);
    const beyond = meter.take({ plan: 'free', nowMs: lastMs, mayExceed: true });
    assert.deepEqual(beyond, {
      isAdmitted: true,
      limit: 1_000,
      used: 1001,
      remaining: 0,
      resetsAtMs: nextMs,
    });
    assert.equal(meter.take({ plan: 'free', nowMs: lastMs }).isAdmitted, false);
    assert.equal(QuotaMeter.restore(meter.encode(), lastMs).peek({ plan: 'free', nowMs: lastMs }).used, 1001);
  });

  test('reading the usage counts nothing', () => {
    const meter = new QuotaMeter();
    meter.take({ plan: 'free', nowMs: lastMs });
    for (const used of [1, 1]) assert.equal(meter.peek({ plan: 'free', nowMs: lastMs }).used, used);
    assert.deepEqual(meter.peek({ plan: 'free', nowMs: nextMs }).used, 0);
    assert.equal(meter.peek({ plan: 'free', nowMs: lastMs }).used, 1);
  });

  test('a new plan applies at once, also a smaller one', () => {
    const meter = new QuotaMeter();
    for (let index = 0; index < 1001; index += 1) meter.take({ plan: 'starter', nowMs: lastMs });
    const { isAdmitted, remaining } = meter.take({ plan: 'free', nowMs: lastMs });
    assert.deepEqual({ isAdmitted, remaining }, { isAdmitted: false, remaining: 0 });
    assert.equal(meter.take({ plan: 'starter', nowMs: lastMs }).used, 1002);
  });

  test('a clock that steps back over the end of a month gives no additional calls', () => {
    const meter = new QuotaMeter();
    spend(meter, 1_000, nextMs);
    const refusedDecision = meter.take({ plan: 'free', nowMs: lastMs });
    assert.equal(refusedDecision.isAdmitted, false);
    assert.equal(refusedDecision.resetsAtMs, Date.UTC(2026, 1, 1));
    assert.equal(refusedDecision.retryAfterSeconds, 31 * 86_400 + 1);
  });

  test('a stored month is kept if it is the next one, and otherwise becomes the present one', () => {
    const stored = `${2026 * 12 + 1}.7`;
    const january = Date.UTC(2026, 0, 1);
    assert.equal(QuotaMeter.restore(stored, january).encode(), stored);
    assert.equal(QuotaMeter.restore(stored, january - 1).encode(), `${2025 * 12 + 11}.7`);
  });

  test('is the same after a restart', () => {
    const meter = new QuotaMeter();
    spend(meter, 1_000, lastMs);
    const restored = QuotaMeter.restore(meter.encode(), Number.POSITIVE_INFINITY);
    assert.deepEqual(
      restored.take({ plan: 'free', nowMs: lastMs }),
      meter.take({ plan: 'free', nowMs: lastMs }),
    );
    for (const encoded of ['', '1', 'x.1', '1.2.3', '1.x'])
      assert.throws(() => QuotaMeter.restore(encoded, 0));
  });
});
