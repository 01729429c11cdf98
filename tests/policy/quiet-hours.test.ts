import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dayIn,
  OpenHours,
  type QuietHours,
  quietHoursProblem,
  quietUntilMs,
} from '../../policy/quiet-hours.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';

/** Returns the local time by an independent format. */
function wallClock(timeZone: string, atMs: number): string {
  const knownFormat = formats.get(timeZone);
  const digits = { hour: '2-digit', minute: '2-digit' } as const;
  const format = knownFormat ?? new Intl.DateTimeFormat('sv-SE', { timeZone, ...digits });
  formats.set(timeZone, format);
  return format.format(atMs);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Computes `quietUntilMs` minute by minute. */
function slowly({ from, to, timeZone }: QuietHours, nowMs: number): number {
  const isQuiet = (atMs: number): boolean => {
    const clock = wallClock(timeZone, atMs);
    return from < to ? clock >= from && clock < to : clock >= from || clock < to;
  };
  let atMs = nowMs;
  while (isQuiet(atMs)) atMs = Math.floor(atMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  return atMs;
}

const clock = fc
  .tuple(fc.nat(23), fc.nat(59))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
/** Days around each change of the clocks, and one that has none. */
const CHANGES = [
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Asia/Kathmandu', '2026-06-01'],
] as const;

test('quiet hours follow the local clocks, also when these are changed', (context) => {
  const moment = fc.tuple(
    fc.constantFrom(...CHANGES),
    fc.integer({ min: -36 * 60, max: 36 * 60 }),
    fc.nat(59_999),
    clock,
    clock,
  );
  fc.assert(
    fc.property(moment, ([[timeZone, day], minutes, ms, from, to]) => {
      const quiet = { from, to, timeZone };
      fc.pre(quietHoursProblem(quiet) === undefined);
      const nowMs = Date.parse(`${day}T12:00:00Z`) + minutes * MINUTE_MS + ms;
      assert.equal(quietUntilMs(quiet, nowMs), slowly(quiet, nowMs));
    }),
    propertyRuns(context, 150),
  );
});

test('quiet hours that span a change last an hour less or more', () => {
  const night = { from: '21:00', to: '08:00', timeZone: 'Europe/Berlin' };
  const quietUntil = (at: string): string => new Date(quietUntilMs(night, Date.parse(at))).toISOString();
  assert.equal(quietUntil('2026-03-28T20:00:00Z'), '2026-03-29T06:00:00.000Z');
  assert.equal(quietUntil('2026-10-24T20:00:00Z'), '2026-10-25T07:00:00.000Z');
  const newYork = { ...night, timeZone: 'America/New_York' };
  assert.equal(
    new Date(quietUntilMs(newYork, Date.parse('2026-03-08T03:00:00Z'))).toISOString(),
    '2026-03-08T12:00:00.000Z',
  );
});

test('days are local, until a moment at which they may change', (context) => {
  const atMs = Date.parse('2026-03-28T23:30:00Z');
  assert.equal(dayIn('Europe/Berlin', atMs).date, '2026-03-29');
  assert.equal(dayIn('UTC', atMs).date, '2026-03-28');
  const moment = fc.tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -36 * 60, max: 36 * 60 }));
  fc.assert(
    fc.property(moment, ([[timeZone, day], minutes]) => {
      const fromMs = Date.parse(`${day}T12:00:00Z`) + minutes * MINUTE_MS;
      const { date, sameUntilMs } = dayIn(timeZone, fromMs);
      assert.ok(sameUntilMs > fromMs);
      assert.equal(dayIn(timeZone, sameUntilMs - 1).date, date);
    }),
    propertyRuns(context, 150),
  );
});

test('cached open hours are the same as freshly computed ones', (context) => {
  const asked = fc.tuple(fc.constantFrom(...CHANGES), clock, clock, fc.array(fc.nat(90), { maxLength: 60 }));
  fc.assert(
    fc.property(asked, ([[timeZone, day], from, to, minutes]) => {
      const quiet = { from, to, timeZone };
      fc.pre(quietHoursProblem(quiet) === undefined);
      const openHours = new OpenHours();
      let atMs = Date.parse(`${day}T12:00:00Z`) - 36 * 60 * MINUTE_MS;
      for (const later of minutes) {
        atMs += later * MINUTE_MS;
        assert.equal(openHours.fromMs(quiet, atMs), quietUntilMs(quiet, atMs), new Date(atMs).toISOString());
      }
    }),
    propertyRuns(context, 100),
  );
});
