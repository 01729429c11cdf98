/**
 * A short history under a few faults, which keeps every promise. Nothing in it depends on the speed of the machine. A
 * message that is on its way at a STOP or a suspension may take a minute. Messages that must not leave wait in a paused
 * shop.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { isKeptIn } from './event-checks.ts';
import { report } from './report.ts';
import { runHistory } from './run-history.ts';

/** Faults that end before a lease does, or with it. None keeps Redis or the machine busy. */
const FAULTS = ['kill', 'cut', 'messagesLost', 'messagesTwice'] as const;
const MINUTES = 1;
const ON_THE_WAY_MS = MINUTE_MS;
/** More events than there are: a second retry would come after five minutes. */
const REFUSES_NONE = 1_000_000;

test('a short history keeps every promise', { timeout: 580_000 }, async (context) => {
  const run = await runHistory({
    seed: 1,
    minutes: MINUTES,
    faults: FAULTS,
    refusesEvery: REFUSES_NONE,
    onTheWayMs: ON_THE_WAY_MS,
    say: (line) => context.diagnostic(line),
  });
  const { history, violations, shops } = run;
  assert.deepEqual(violations, [], report(run));
  assert.ok(shops >= 6, `${shops} shops`);
  for (const kind of [
    'accepted',
    'ended',
    'delivered',
    'stopped',
    'erased',
    'erased_tenant',
    'fed',
    'called',
    'fault',
  ] as const)
    assert.ok(history.of(kind).length > 0, `${kind} is missing`);
  const texts = new Set(history.of('accepted').map(({ text }) => text));
  assert.ok(
    history.of('suspended').some(({ held = '' }) => texts.has(held)),
    'no message waited in a suspension',
  );
  assert.ok(history.of('ended').some(isKeptIn(history)), 'no end is compared with the events');
});
