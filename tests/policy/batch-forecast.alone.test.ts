import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { type ForecastFacts, ForecastRun } from '../../policy/batch-forecast.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { textFingerprint } from '../../policy/text-fingerprint.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { facts, NOW_MS, plan, stepsOf } from './batch-plans.ts';
import { slowForecast } from './slow-forecast.ts';

test('a forecast neither scans the ledger nor asks the clocks of a zone for each message', () => {
  const scans = mock.method(SendLedger.prototype, 'tallyMessages');
  const clocks = mock.method(Intl.DateTimeFormat.prototype, 'formatToParts');
  const quietHours = { from: '20:00', to: '08:00', timeZone: 'Europe/Berlin' };
  const twenty = Array.from({ length: 20 }, () => plan({ wrote: 10_000, quietHours }));
  for (const plans of [twenty.slice(0, 1), twenty]) {
    clocks.mock.resetCalls();
    const run = new ForecastRun(plans, plans.length - 1, facts());
    const steps = stepsOf(run);
    assert.ok(steps <= 2 * 90 * 250, `${steps} steps: no more than two for each that may leave in 90 days`);
    assert.equal(scans.mock.callCount(), 0);
    assert.ok(clocks.mock.callCount() <= 2_000, `${clocks.mock.callCount()} questions to clocks`);
  }
  mock.restoreAll();
});

const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC');
const quiet = fc.record({
  from: fc.constantFrom('20:00', '22:07', '02:30'),
  to: fc.constantFrom('08:00', '09:41', '03:15'),
  timeZone: zones,
});
const planned = fc.record({
  wrote: fc.nat(150),
  unheard: fc.nat(40),
  declared: fc.nat(90),
  sameContent: fc.constantFrom(
    undefined,
    { kind: 'text' as const, text: 'we open' },
    { kind: 'file' as const, mediaUrl: 'https://a.example/b.png' },
  ),
  share: fc.constantFrom(0.1, 0.35, 0.7, 0.9),
  quietHours: fc.option(quiet),
  notBeforeMs: fc.constantFrom(NOW_MS - HOUR_MS, NOW_MS + 5 * HOUR_MS, NOW_MS + 9 * DAY_MS),
  notAfterMs: fc.constantFrom(NOW_MS + 6 * DAY_MS, NOW_MS + 40 * DAY_MS),
});
const network = fc.record({
  restriction: fc.constantFrom(null, { kind: 'ALL', untilMs: NOW_MS + 3 * HOUR_MS, isEndKnown: true }),
  newChats: fc.option(
    fc.record({
      quota: fc.nat(40),
      used: fc.nat(10),
      accepted: fc.nat(2),
      atMs: fc.constant(NOW_MS),
      warning: fc.constantFrom(null, 'capped' as const),
      endsAtMs: fc.constantFrom(null, NOW_MS + 5 * DAY_MS),
    }),
  ),
});
const past = fc.array(
  fc.record({
    kind: fc.constantFrom('known', 'cold', 'declared', 'status', 'group'),
    agoMs: fc.nat(30 * HOUR_MS),
    text: fc.constantFrom('we open', 'other'),
    subject: fc.integer({ min: 1, max: 60 }),
  }),
  { maxLength: 60, size: 'max' },
);

test('a forecast agrees with the rules, which judge each message', (context) => {
  const asked = fc.record({
    plans: fc.array(planned, { minLength: 1, maxLength: 4 }),
    place: fc.nat(3),
    network,
    past,
    pairedDays: fc.constantFrom(null, 0, 2, 6, 13, 30),
    declaredPerDay: fc.constantFrom(0, 7, 30, 200),
  });
  fc.assert(
    fc.property(asked, ({ plans, place, past, pairedDays, declaredPerDay, network }) => {
      const sent = past.toSorted((left, right) => right.agoMs - left.agoMs);
      const makeFacts = (): ForecastFacts => {
        const ledger = new SendLedger();
        for (const { kind, agoMs, text, subject } of sent)
          ledger.record({ kind, subject, atMs: NOW_MS - agoMs, fingerprint: textFingerprint(text) });
        return facts({
          ledger,
          network,
          settings: resolveSettings({ declaredPerDay }),
          pairedAtMs: pairedDays === null ? null : NOW_MS - pairedDays * DAY_MS,
        });
      };
      const run = new ForecastRun(plans, place % plans.length, makeFacts());
      stepsOf(run);
      assert.deepEqual(run.forecast, slowForecast(plans, place % plans.length, makeFacts()));
    }),
    propertyRuns(context, 150),
  );
});
