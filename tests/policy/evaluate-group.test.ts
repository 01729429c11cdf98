import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateGroup, type GroupFacts, groupShares } from '../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { messageFacts, refusalOf, START_MS, sendMany } from './sends.ts';

function groupFacts(facts: Partial<GroupFacts> = {}): GroupFacts {
  return {
    groupId: '120363042345678901@g.us',
    text: 'Hello',
    mediaUrl: undefined,
    group: { participantCount: 10, isAdmin: true, announce: false },
    pairedAtMs: START_MS,
    settings: resolveSettings({}),
    nowMs: START_MS,
    ...facts,
  };
}

function send(ledger: SendLedger, facts: Partial<GroupFacts>) {
  const evaluation = evaluateGroup(ledger, groupFacts(facts));
  if (evaluation.isAdmitted) ledger.record(evaluation.entry);
  return evaluation;
}

function groupOf(participantCount: number) {
  return { participantCount, isAdmin: true, announce: false };
}

test('a group takes one share for every 50 participants, rounded up, at least one', () => {
  const counts = [0, 1, 49, 50, 51, 100, 101, 1024];
  assert.deepEqual(counts.map(groupShares), [1, 1, 1, 1, 2, 2, 3, 21]);
});

test('content comes first, then context, then administration; the announce flag decides nothing', () => {
  const ledger = new SendLedger();
  const ask = (facts: Partial<GroupFacts>) => refusalOf(evaluateGroup(ledger, groupFacts(facts)));
  assert.deepEqual(ask({ group: null, text: undefined }), ['EMPTY_MESSAGE', undefined]);
  assert.deepEqual(ask({ text: 'x'.repeat(4097) }), ['MESSAGE_TOO_LONG', undefined]);
  assert.deepEqual(ask({ group: null }), ['GROUP_CONTEXT_REQUIRED', undefined]);
  for (const participantCount of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])
    assert.deepEqual(ask({ group: groupOf(participantCount) }), ['GROUP_CONTEXT_REQUIRED', undefined]);
  for (const announce of [true, false]) {
    const context = { participantCount: 10, announce };
    assert.deepEqual(ask({ group: { ...context, isAdmin: false } }), ['GROUP_NOT_ADMINISTERED', undefined]);
    assert.equal(ask({ group: { ...context, isAdmin: true } }), 'admitted');
  }
});

test('the verdict shows the group budget, and the shop’s cold and declared figures', () => {
  const ledger = new SendLedger();
  sendMany(ledger, { count: 3, paceMs: 0, facts: { isCustomer: false } });
  const declaration = { expiresAtMs: null, isRevoked: false };
  sendMany(ledger, { count: 2, paceMs: 0, facts: { isCustomer: false, declaration } });
  const pairedAtMs = START_MS - 20 * DAY_MS;
  send(ledger, { groupId: 'a@g.us', pairedAtMs, group: groupOf(120) });
  const evaluation = send(ledger, { nowMs: START_MS + HOUR_MS, pairedAtMs, group: groupOf(60) });
  assert.ok(evaluation.isAdmitted);
  assert.deepEqual(evaluation.verdict, {
    recipientClass: 'group',
    warmupDay: 20,
    caps: { perDay: 20, perHour: 20, coldPerDay: 25, declaredPerDay: 30 },
    usage: { today: 5, lastHour: 2, coldToday: 3, declaredToday: 2 },
  });
});

test('groups and 1:1 messages use up nothing of each other', () => {
  const ledger = new SendLedger();
  for (let index = 0; index < 20; index += 1)
    assert.ok(send(ledger, { groupId: `${index}@g.us` }).isAdmitted);
  const message = evaluateMessage(ledger, messageFacts({ text: 'Hello' }));
  assert.ok(message.isAdmitted);
  assert.equal(message.verdict.usage.today, 1);
});

test('one group gets at most groupPerRecipient24h in 24 hours, which is asked before the daily cap', () => {
  const ledger = new SendLedger();
  const settings = resolveSettings({ groupsPerDay: 2 });
  assert.ok(send(ledger, { settings }).isAdmitted);
  assert.ok(send(ledger, { settings, nowMs: START_MS + HOUR_MS }).isAdmitted);
  const nowMs = START_MS + 2 * HOUR_MS;
  assert.deepEqual(refusalOf(send(ledger, { settings, nowMs })), ['RECIPIENT_RATE_LIMITED', 22 * 3600]);
  const otherEvaluation = send(ledger, { settings, nowMs, groupId: 'other@g.us' });
  assert.deepEqual(refusalOf(otherEvaluation), ['GROUP_DAILY_CAP_REACHED', 22 * 3600]);
  const lowered = resolveSettings({ groupPerRecipient24h: 1 });
  assert.deepEqual(refusalOf(send(ledger, { settings: lowered, nowMs })), [
    'RECIPIENT_RATE_LIMITED',
    23 * 3600,
  ]);
  assert.ok(send(ledger, { settings, nowMs: START_MS + DAY_MS }).isAdmitted);
});

test('the daily cap counts shares, and waits for as many as the group takes', () => {
  const ledger = new SendLedger();
  for (let index = 0; index < 4; index += 1) {
    assert.ok(
      send(ledger, { groupId: `${index}@g.us`, nowMs: START_MS + index * HOUR_MS, group: groupOf(250) })
        .isAdmitted,
    );
  }
  const nowMs = START_MS + 4 * HOUR_MS;
  const ask = (participants: number) =>
    refusalOf(evaluateGroup(ledger, groupFacts({ nowMs, group: groupOf(participants) })));
  assert.deepEqual(ask(1), ['GROUP_DAILY_CAP_REACHED', 20 * 3600]);
  assert.deepEqual(ask(250), ['GROUP_DAILY_CAP_REACHED', 20 * 3600]);
  assert.deepEqual(ask(251), ['GROUP_DAILY_CAP_REACHED', 21 * 3600]);
  assert.deepEqual(ask(1_000), ['GROUP_DAILY_CAP_REACHED', 23 * 3600]);
  assert.deepEqual(ask(1001), ['GROUP_DAILY_CAP_REACHED', undefined]);
});

test('a group too large for the whole budget is refused even when nothing is used', () => {
  const evaluation = evaluateGroup(new SendLedger(), groupFacts({ group: groupOf(1001) }));
  assert.deepEqual(refusalOf(evaluation), ['GROUP_DAILY_CAP_REACHED', undefined]);
  assert.ok(!evaluation.isAdmitted);
  assert.match(evaluation.message, /Waiting does not lift this\.$/);
});
