import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateGroup } from '../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { evaluateStatus } from '../../policy/evaluate-status.ts';
import { fullLedger } from '../../policy/full-ledger.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings, SETTINGS_RANGES, type TenantSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { messageFacts, START_MS } from './sends.ts';

/** Returns the verdicts of a shop with a full ledger for a message, a group message and a status. */
function told(nowMs: number, settings: TenantSettings) {
  const ledger = new SendLedger();
  for (const entry of fullLedger(START_MS)) ledger.record(entry);
  const content = { text: 'Hello', mediaUrl: undefined, settings, nowMs };
  const group = { participantCount: 1, isAdmin: true, announce: false };
  return [
    evaluateMessage(ledger, messageFacts({ settings, nowMs })),
    evaluateGroup(ledger, { ...content, groupId: '120363042345678901@g.us', group, pairedAtMs: null }),
    evaluateStatus(ledger, { ...content, caption: 'Hello', hasAttachment: false }),
  ].map((evaluation) => ('code' in evaluation ? evaluation.code : 'admitted'));
}

const widest = resolveSettings(
  Object.fromEntries(Object.entries(SETTINGS_RANGES).map(([field, { roof }]) => [field, roof])),
);

test('a full ledger refuses everything for a day, also under the widest settings, and nothing afterwards', () => {
  const refused = ['DAILY_CAP_REACHED', 'GROUP_DAILY_CAP_REACHED', 'STATUSES_DAILY_CAP_REACHED'];
  for (const settings of [widest, resolveSettings({})]) {
    assert.deepEqual(told(START_MS, settings), refused);
    assert.deepEqual(told(START_MS + DAY_MS - 1, settings), refused);
    assert.deepEqual(told(START_MS + DAY_MS, settings), ['admitted', 'admitted', 'admitted']);
  }
});

test('a full ledger takes no more than each window holds, and matches no recipient and no text', () => {
  const counts = new Map<string, number>();
  for (const { kind, subject, fingerprint } of fullLedger(START_MS)) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    assert.equal(subject, kind === 'group' ? SETTINGS_RANGES.groupsPerDay.roof : 0);
    assert.deepEqual(fingerprint, { high: 0, low: 0 });
  }
  const { statusesPerDay } = SETTINGS_RANGES;
  assert.deepEqual(Object.fromEntries(counts), { known: 250, group: 1, status: statusesPerDay.roof });
});
