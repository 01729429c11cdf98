import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import {
  endNewChat,
  type NetworkLimits,
  type NewChats,
  newChatBar,
  newChatBarOnWire,
} from '../../policy/network-limits.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { messageFacts, refusalOf, START_MS, sendMany } from './sends.ts';

const day0 = { pairedAtMs: START_MS };

/** A quota of ten, of which nothing is used, with what a test cares for put over it. */
function quotaOfTen(told: Partial<NewChats>): NetworkLimits {
  const unused = { quota: 10, used: 0, accepted: 0, warning: null };
  return {
    restriction: null,
    newChats: { ...unused, endsAtMs: START_MS + 3 * DAY_MS, atMs: START_MS, ...told },
  };
}

test('while the network restricts the number, anyone who never wrote is refused until its end, in every class', () => {
  const ledger = new SendLedger();
  sendMany(ledger, { count: 5, paceMs: MINUTE_MS, facts: { ...day0, isCustomer: false } });
  const nowMs = START_MS + 5 * MINUTE_MS;
  const ask = (facts: Parameters<typeof messageFacts>[0]) =>
    refusalOf(evaluateMessage(ledger, messageFacts({ ...day0, isCustomer: false, nowMs, ...facts })));
  const restrictedUntil = (untilMs: number) => ({
    network: { restriction: { kind: 'DEFAULT', untilMs, isEndKnown: true }, newChats: null },
  });
  const late = restrictedUntil(nowMs + 6 * DAY_MS);
  const soon = restrictedUntil(nowMs + HOUR_MS);
  const declaration = { expiresAtMs: null, isRevoked: false };
  assert.deepEqual(ask(late), ['COLD_RECIPIENT_CAP_REACHED', 6 * 86_400]);
  assert.deepEqual(ask(soon), ['COLD_RECIPIENT_CAP_REACHED', 86_400 - 300]);
  const roomy = { settings: resolveSettings({ coldPerDay: 6 }) };
  assert.deepEqual(ask({ ...soon, ...roomy }), ['COLD_RECIPIENT_CAP_REACHED', 3_600]);
  assert.equal(ask({ ...roomy, ...restrictedUntil(nowMs) }), 'admitted');
  assert.deepEqual(ask({ ...late, isCustomer: true }), ['COLD_RECIPIENT_CAP_REACHED', 6 * 86_400]);
  assert.deepEqual(ask({ ...late, declaration }), ['DECLARED_RECIPIENT_CAP_REACHED', 6 * 86_400]);
  for (const known of [{ isCustomer: true }, { declaration }, {}])
    assert.equal(ask({ ...late, ...known, lastInboundAtMs: START_MS - DAY_MS }), 'admitted');
});

test('the network’s quota of new chats bounds first contacts of every class, and no one who wrote', () => {
  const ledger = new SendLedger();
  const nowMs = START_MS;
  const ask = (facts: Parameters<typeof messageFacts>[0]) =>
    refusalOf(evaluateMessage(ledger, messageFacts({ ...day0, isCustomer: false, nowMs, ...facts })));
  const quota = (told: Partial<NewChats>) => ({ network: quotaOfTen(told) });
  const declaration = { expiresAtMs: null, isRevoked: false };
  assert.equal(ask(quota({ used: 8, accepted: 1 })), 'admitted');
  const spent = quota({ used: 8, accepted: 2 });
  assert.deepEqual(ask(spent), ['COLD_RECIPIENT_CAP_REACHED', 3 * 86_400]);
  assert.deepEqual(ask({ ...spent, isCustomer: true }), ['COLD_RECIPIENT_CAP_REACHED', 3 * 86_400]);
  assert.deepEqual(ask({ ...spent, declaration }), ['DECLARED_RECIPIENT_CAP_REACHED', 3 * 86_400]);
  assert.equal(ask({ ...spent, lastInboundAtMs: START_MS - DAY_MS }), 'admitted');
  assert.deepEqual(ask(quota({ used: 1, warning: 'capped' })), ['COLD_RECIPIENT_CAP_REACHED', 3 * 86_400]);
  // A cycle that is over has no effect. One without a named end lasts for a day.
  assert.equal(ask({ ...quota({ used: 10, endsAtMs: nowMs }) }), 'admitted');
  assert.deepEqual(ask(quota({ used: 10, endsAtMs: null })), ['COLD_RECIPIENT_CAP_REACHED', 86_400]);
  assert.equal(ask(quota({ used: 10, endsAtMs: null, atMs: nowMs - DAY_MS })), 'admitted');
});

test('other accepted messages count at the acceptance of a message, and no longer when it leaves', () => {
  for (const [used, accepted, isBarred, isBarredOnWire] of [
    [8, 1, false, false],
    [8, 2, true, false],
    [9, 1, true, false],
    [9, 0, false, false],
    [10, 0, true, true],
  ] as const) {
    const limits = quotaOfTen({ used, accepted });
    const bars = [newChatBar(limits, START_MS), newChatBarOnWire(limits, START_MS)];
    assert.deepEqual(
      bars.map((bar) => bar?.reliefMs),
      [isBarred, isBarredOnWire].map((barred) => (barred ? START_MS + 3 * DAY_MS : undefined)),
      `${used} used, ${accepted} accepted`,
    );
  }
});

test('an accepted message that has ended is used or unused, and is accepted no longer', () => {
  for (const [end, before, after] of [
    ['used', { used: 3, accepted: 2 }, { used: 4, accepted: 1 }],
    ['unused', { used: 3, accepted: 2 }, { used: 3, accepted: 1 }],
    ['used', { used: 3, accepted: 1 }, { used: 4, accepted: 0 }],
    // The network's report may have come first. It leaves no accepted messages.
    ['used', { used: 3, accepted: 0 }, { used: 4, accepted: 0 }],
  ] as const) {
    const { newChats } = quotaOfTen(before);
    assert.deepEqual(newChats && endNewChat(newChats, end), quotaOfTen(after).newChats);
  }
});
