import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForecastRun } from '../../policy/batch-forecast.ts';
import { ForecastWindows } from '../../policy/forecast-windows.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { facts, NOW_MS, plan, stepsOf } from './batch-plans.ts';

test('a batch passes over 64 declared recipients, and then all its messages wait', () => {
  const settings = resolveSettings({ declaredPerDay: 10 });
  const plans = [plan({ wrote: 200, declared: 200, share: 1 })];
  const run = new ForecastRun(plans, 0, facts({ settings, pairedAtMs: NOW_MS - 100 * DAY_MS }));
  stepsOf(run);
  // Ten of each class alternate. Then each of 64 who are passed over lets one more of the others go first.
  assert.deepEqual(run.forecast.days[0], { date: '2026-03-20', count: 84 });
});

test('declared recipients of a tenant whose cap for them is zero never leave', () => {
  const settings = resolveSettings({ declaredPerDay: 0 });
  const run = new ForecastRun([plan({ wrote: 2, declared: 3 })], 0, facts({ settings }));
  stepsOf(run);
  assert.deepEqual(run.forecast.days, [{ date: '2026-03-20', count: 2 }]);
});

test('messages of one moment count for the next of that moment', () => {
  const windows = new ForecastWindows(new SendLedger(), facts());
  let sentCount = 0;
  while (sentCount < 100 && windows.budgetMs(1, NOW_MS) <= NOW_MS) {
    windows.record('known', NOW_MS);
    sentCount += 1;
  }
  assert.deepEqual([sentCount, windows.budgetMs(1, NOW_MS)], [10, NOW_MS + HOUR_MS]);
});

test('a message at midnight belongs to the new day', () => {
  const midnightMs = Date.parse('2026-03-21T00:00:00Z');
  const run = new ForecastRun([plan({ wrote: 2 })], 0, facts({ nowMs: midnightMs - 16_500 }));
  stepsOf(run);
  assert.deepEqual(run.forecast, {
    firstAtMs: midnightMs - 16_500,
    lastAtMs: midnightMs,
    days: [
      { date: '2026-03-20', count: 1 },
      { date: '2026-03-21', count: 1 },
    ],
  });
});

test('a forecast ends with its batch, whatever other batches have left', () => {
  const other = plan({ wrote: 10_000 });
  const sent = new ForecastRun([plan({ wrote: 1 }), other], 0, facts());
  assert.equal(stepsOf(sent), 2);
  const late = new ForecastRun([plan({ wrote: 1, notAfterMs: NOW_MS - 1 }), other], 0, facts());
  // The other batch uses up its share of the first hour, seven of ten messages. Then nothing leaves.
  assert.equal(stepsOf(late), 8);
  assert.deepEqual(late.forecast, { firstAtMs: null, lastAtMs: null, days: [] });
});

test('a place without a plan is a mistake of the caller', () => {
  for (const place of [1, -1]) assert.throws(() => new ForecastRun([plan()], place, facts()), RangeError);
});
