/** State that a clock hours ahead stored, read once the clock is right again; and an unreadable ledger. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAccepted, messageIdOf } from '../../../actors/shops/state/accepted-list.ts';
import { pacingState } from '../../../actors/shops/state/shop-state.ts';
import { readLedger } from '../../../actors/shops/state/stored-ledger.ts';
import { DeclarationLedger, encodeDeclarations } from '../../../policy/declaration-limits.ts';
import { evaluateMessage } from '../../../policy/evaluate-message.ts';
import { evaluateStatus } from '../../../policy/evaluate-status.ts';
import { fullLedger } from '../../../policy/full-ledger.ts';
import { encodeEntry } from '../../../policy/ledger-entry.ts';
import { KeyLimits } from '../../../policy/limits/key-limits.ts';
import { QuotaMeter } from '../../../policy/limits/quota-meter.ts';
import { resolveSettings } from '../../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import { messageFacts, refusalOf, START_MS } from '../../policy/sends.ts';
import { ShopHarness } from './shop-harness.ts';

test('a gap, a pause, a wait to reconnect and an age that lie hours ahead start again at their full length', async () => {
  const shop = await ShopHarness.connected();
  shop.nowMs += 5 * HOUR_MS;
  const first = shop.send();
  const second = shop.send('+33612345679');
  shop.toWire(first);
  shop.outcome(first, { kind: 'acknowledged' });
  assert.equal(pacingState(shop.state), 'gap');
  shop.nowMs -= 5 * HOUR_MS;
  const gap = await shop.successor('store');
  assert.equal(gap.statusOf(second), 'queued');
  const [due = 0] = gap.timers().flatMap(({ id, dueAtMs }) => (id === 'pacing' ? [dueAtMs] : []));
  assert.ok(due > gap.nowMs && due <= gap.nowMs + 20_000, `the gap is over in ${due - gap.nowMs} ms`);
  const [waiting = 0] = gap.timers().flatMap(({ id, dueAtMs }) => (id === 'waiting' ? [dueAtMs] : []));
  assert.ok(waiting <= gap.nowMs + DAY_MS, 'the message ends a day from now at the latest');

  shop.nowMs += 5 * HOUR_MS;
  shop.session({ type: 'session.closed', end: 'transient', statusCode: 503, detail: '' });
  shop.nowMs -= 5 * HOUR_MS;
  const down = await shop.successor('store', 'crash');
  const [reconnect = 0] = down.timers().flatMap(({ id, dueAtMs }) => (id === 'reconnect' ? [dueAtMs] : []));
  assert.ok(reconnect <= down.nowMs + 5 * MINUTE_MS, `it reconnects in ${reconnect - down.nowMs} ms`);
});

test('the wait for an outcome lasts twice the time of the session, even if the wall clock steps', async () => {
  const shop = await ShopHarness.connected();
  const id = shop.send();
  const least = () => shop.timers().find(({ id }) => id === 'pacing')?.leastMs;
  assert.equal(least(), undefined, 'what is prepared is put back');
  shop.toWire(id);
  assert.equal(least(), 120_000);
  shop.outcome(id, { kind: 'acknowledged' });
  assert.equal(least(), undefined, 'a gap may end early');
});

test('a restriction without a named end that lies days ahead ends a day later, also after another restart', async () => {
  const shop = await ShopHarness.connected();
  shop.nowMs += 10 * DAY_MS;
  const restriction = { isActive: true, kind: 'RESTRICT_ALL_COMPANIONS', endsAtMs: null };
  shop.session({ type: 'session.limits', restriction });
  shop.nowMs -= 10 * DAY_MS;
  const first = await shop.successor('store');
  const endsAtMs = first.state.limits.restriction?.untilMs;
  assert.equal(endsAtMs, first.nowMs + DAY_MS);
  // Any commit stores it.
  first.send();
  first.nowMs += 20 * HOUR_MS;
  const secondHarness = await first.successor('store');
  assert.equal(secondHarness.state.limits.restriction?.untilMs, endsAtMs);
});

test('sends counted by a clock that was ahead count from now on: none is forgotten, none lasts longer than its window', () => {
  const aheadMs = START_MS + 5 * HOUR_MS;
  const messageId = 'a'.repeat(24);
  const stored = Array.from({ length: 250 }, (_, index) =>
    encodeAccepted(messageId, {
      kind: 'known',
      atMs: aheadMs + index,
      subject: index,
      fingerprint: { high: 0, low: index },
    }),
  );
  const { ledger, elements } = readLedger(stored, START_MS);
  const verdict = (nowMs: number) => refusalOf(evaluateMessage(ledger, messageFacts({ nowMs })));
  assert.deepEqual(verdict(START_MS), ['DAILY_CAP_REACHED', DAY_MS / 1_000]);
  assert.equal(verdict(START_MS + DAY_MS), 'admitted');
  assert.ok(elements !== undefined && readLedger(elements, START_MS).elements === undefined, 'mended once');
  assert.ok(elements.every((element) => messageIdOf(element) === messageId));
});

test('a ledger that cannot be read counts as full until its windows have passed, and is written so by the first turn', async () => {
  const messageId = 'a'.repeat(24);
  const { ledger, elements = [], isUnreadable } = readLedger(['kjunk', `${messageId}kjunk`], START_MS);
  assert.equal(isUnreadable, true);
  const full = fullLedger(START_MS).map(encodeEntry);
  assert.deepEqual(elements, [full[0], messageId, ...full], 'messages keep their places');
  const settings = resolveSettings({ statusesPerDay: 30 });
  const verdicts = (nowMs: number) => [
    refusalOf(evaluateMessage(ledger, messageFacts({ nowMs }))),
    refusalOf(evaluateStatus(ledger, { caption: 'a', hasAttachment: false, settings, nowMs })),
  ];
  assert.deepEqual(verdicts(START_MS + DAY_MS - 1), [
    ['DAILY_CAP_REACHED', 1],
    ['STATUSES_DAILY_CAP_REACHED', 1],
  ]);
  assert.deepEqual(verdicts(START_MS + DAY_MS), ['admitted', 'admitted']);

  const shop = await ShopHarness.connected();
  const told: string[] = [];
  const loaded = await shop.loadedWith({
    ledger: ['kjunk'],
    onLedgerReplaced: ({ shopId }) => told.push(shopId),
  });
  assert.deepEqual(told, [shop.state.shop.shopId]);
  loaded.restart();
  const writtenWrites = loaded.writes.filter(([, key]) => key === loaded.state.keys.accepted);
  assert.deepEqual(
    writtenWrites.map(([command, , ...values]) => [command, values.length]),
    [
      ['LTRIM', 2],
      ['RPUSH', 282],
    ],
  );
  assert.equal(loaded.send(), 'DAILY_CAP_REACHED');
});

test('calls counted by a clock that was ahead count from now on, in every window of the key', () => {
  const keyId = 'key';
  const limits = { minute: 60, hour: 1_000, day: 10_000 };
  for (const aheadMs of [5 * HOUR_MS, 365 * DAY_MS]) {
    const limitsBefore = new KeyLimits();
    for (let call = 0; call < 59; call += 1) limitsBefore.take({ keyId, limits, nowMs: START_MS + aheadMs });
    const keys = new KeyLimits();
    keys.restore({ keyId, state: limitsBefore.changedState(keyId)?.state ?? '', nowMs: START_MS });
    assert.notEqual(keys.changedState(keyId), undefined, 'it is stored as it now stands');
    assert.equal(keys.take({ keyId, limits, nowMs: START_MS }).isAdmitted, true);
    const refusedDecision = keys.take({ keyId, limits, nowMs: START_MS });
    assert.deepEqual([refusedDecision.isAdmitted, refusedDecision.retryAfterSeconds], [false, 60]);
    assert.equal(keys.take({ keyId, limits, nowMs: START_MS + 60_000 }).isAdmitted, true);
    assert.equal(keys.peek({ keyId, limits, nowMs: START_MS + 60_000 })[1]?.remaining, 1_000 - 61);
  }
});

test('a quota and declarations with times far ahead count now', () => {
  const meter = new QuotaMeter();
  meter.take({ plan: 'free', nowMs: START_MS + 100 * DAY_MS });
  assert.equal(QuotaMeter.restore(meter.encode(), START_MS).peek({ plan: 'free', nowMs: START_MS }).used, 1);
  const stored = [encodeDeclarations({ atMs: START_MS + 5 * HOUR_MS, count: 500 })];
  const ledger = DeclarationLedger.restore(stored, START_MS);
  assert.equal(ledger.effectiveNowMs(START_MS), START_MS);
  assert.equal(ledger.liveAt(START_MS + DAY_MS).length, 0);
});
