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
/** Days around changes of the clocks, also one by two hours and one an hour before midnight, and a day without one. */
const CHANGES = [
  ['Antarctica/Troll', '2026-03-29'],
  ['America/Nuuk', '2026-03-29'],
  ['Europe/Berlin', '2026-03-29'],
  ['Europe/Berlin', '2026-10-25'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Asia/Kathmandu', '2026-06-01'],
] as const;

test('quiet hours are two different times of day in a named zone, with an hour in between', () => {
  const fieldOf = (from: string, to: string, timeZone = 'Europe/Berlin') =>
    quietHoursProblem({ from, to, timeZone })?.field;
  for (const time of ['00:00', '09:59', '10:30', '19:00', '20:09', '23:59'])
    assert.deepEqual([fieldOf(time, '08:00'), fieldOf('08:01', time)], [undefined, undefined], time);
  for (const time of [
    '24:00',
    '30:00',
    '7:30',
    '+7:30',
    ' 7:30',
    '2-:00',
    '20:60',
    '20:-5',
    '20:5',
    '20.30',
    '20:300',
  ])
    assert.deepEqual([fieldOf(time, '08:00'), fieldOf('20:00', time)], ['from', 'to'], time);
  for (const zone of ['UTC', 'America/Argentina/Buenos_Aires', 'Asia/Kathmandu'])
    assert.equal(fieldOf('20:00', '08:00', zone), undefined, zone);
  for (const zone of ['', '+02:00', 'Mars/Olympus', ' UTC'])
    assert.equal(fieldOf('20:00', '08:00', zone), 'timeZone', zone);
  for (const [from, to, problem] of [
    ['20:00', '19:00', undefined],
    ['20:00', '19:01', 'to'],
    ['20:00', '20:00', 'to'],
    ['00:30', '23:30', undefined],
    ['00:30', '23:31', 'to'],
    ['20:00', '20:01', undefined],
  ] as const)
    assert.equal(fieldOf(from, to), problem, `${from} to ${to}`);
  const messages = [{ from: '21' }, { timeZone: 'Mars' }, { to: '20:00' }].map(
    (wrong) => quietHoursProblem({ from: '20:00', to: '08:00', timeZone: 'UTC', ...wrong })?.message,
  );
  assert.deepEqual(messages, [
    'must be a time of day like 21:30',
    'must be an IANA time zone like Europe/Berlin',
    'must differ from `from`, and leave at least one hour a day',
  ]);
});

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

test('quiet hours begin with their first minute and end with their last', () => {
  for (const [from, to, at, until] of [
    ['10:00', '20:00', '09:59:59.999', 'now'],
    ['10:00', '20:00', '10:00:00.000', '20:00'],
    ['10:00', '20:00', '19:59:59.999', '20:00'],
    ['10:00', '20:00', '20:00:00.001', 'now'],
    ['20:00', '08:00', '07:59:59.999', '08:00'],
    ['20:00', '08:00', '08:00:00.001', 'now'],
    ['20:00', '08:00', '19:59:59.999', 'now'],
    ['00:00', '08:00', '00:00:00.001', '08:00'],
  ] as const) {
    const atMs = Date.parse(`2026-03-20T${at}Z`);
    const untilMs = until === 'now' ? atMs : Date.parse(`2026-03-20T${until}Z`);
    assert.equal(quietUntilMs({ from, to, timeZone: 'UTC' }, atMs), untilMs, `${from} to ${to} at ${at}`);
  }
});

test('days are local, until a moment at which they may change', (context) => {
  const atMs = Date.parse('2026-03-28T23:30:00Z');
  assert.equal(dayIn('Europe/Berlin', atMs).date, '2026-03-29');
  assert.equal(dayIn('UTC', atMs).date, '2026-03-28');
  for (const time of ['21:58', '21:59', '22:00', '22:01', '23:59']) {
    const { sameUntilMs } = dayIn('UTC', Date.parse(`2026-03-20T${time}:00Z`));
    const expected = time < '22:00' ? '22:00' : time < '22:15' ? '22:15' : '24:00';
    assert.equal(sameUntilMs, Date.parse(`2026-03-20T${expected}:00Z`), time);
  }
  const moment = fc.tuple(
    fc.constantFrom(...CHANGES),
    fc.integer({ min: -36 * 60, max: 36 * 60 }),
    fc.nat(59_999),
  );
  fc.assert(
    fc.property(moment, ([[timeZone, day], minutes, ms]) => {
      const fromMs = Date.parse(`${day}T12:00:00Z`) + minutes * MINUTE_MS + ms;
      const { date, sameUntilMs } = dayIn(timeZone, fromMs);
      assert.ok(sameUntilMs > fromMs);
      assert.equal(dayIn(timeZone, sameUntilMs - 1).date, date);
    }),
    propertyRuns(context, 150),
  );
});

test('open hours are remembered until the quiet hours begin, also if clocks are changed before', () => {
  const timeZone = 'Europe/Berlin';
  for (const [from, to, moments] of [
    [
      '20:00',
      '08:00',
      [
        ['03-20T12:00', 'open'],
        ['03-20T18:59', 'open'],
        ['03-20T19:00', '03-21T07:00'],
      ],
    ],
    [
      '10:00',
      '20:00',
      [
        ['03-28T19:00', 'open'],
        ['03-29T07:59', 'open'],
        ['03-29T08:00', '03-29T18:00'],
      ],
    ],
    [
      '10:00',
      '20:00',
      [
        ['10-24T18:00', 'open'],
        ['10-25T08:59', 'open'],
        ['10-25T09:00', '10-25T19:00'],
      ],
    ],
  ] as const) {
    const openHours = new OpenHours();
    for (const [at, opens] of moments) {
      const atMs = Date.parse(`2026-${at}Z`);
      const expectedMs = opens === 'open' ? atMs : Date.parse(`2026-${opens}Z`);
      assert.equal(openHours.fromMs({ from, to, timeZone }, atMs), expectedMs, at);
    }
  }
});

test('cached open hours are the same as freshly computed ones', (context) => {
  const waits = fc.array(fc.nat(90), { minLength: 40, maxLength: 60, size: 'max' });
  const asked = fc.tuple(fc.constantFrom(...CHANGES), clock, clock, waits);
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
