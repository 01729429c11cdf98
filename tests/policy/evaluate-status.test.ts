import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { evaluateStatus, type StatusFacts } from '../../policy/evaluate-status.ts';
import { policyUsage } from '../../policy/policy-usage.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { messageFacts, refusalOf, START_MS } from './sends.ts';

function statusFacts(facts: Partial<StatusFacts> = {}): StatusFacts {
  return { caption: 'Hello', hasAttachment: false, settings: resolveSettings({}), nowMs: START_MS, ...facts };
}

test('a status needs a caption or an attachment', () => {
  const ask = (facts: Partial<StatusFacts>) =>
    refusalOf(evaluateStatus(new SendLedger(), statusFacts(facts)));
  assert.equal(ask({ caption: 'x' }), 'admitted');
  assert.equal(ask({ caption: undefined, hasAttachment: true }), 'admitted');
  assert.deepEqual(ask({ caption: undefined }), ['EMPTY_MESSAGE', undefined]);
  assert.deepEqual(ask({ caption: ' \n' }), ['EMPTY_MESSAGE', undefined]);
});

test('statuses have a daily cap of their own, to the millisecond', () => {
  const ledger = new SendLedger();
  for (let index = 0; index < 10; index += 1) {
    const evaluation = evaluateStatus(ledger, statusFacts({ nowMs: START_MS + index * 1_000 }));
    assert.ok(evaluation.isAdmitted);
    const nothing = { subject: 0, fingerprint: { high: 0, low: 0 } };
    assert.deepEqual(evaluation.entry, { kind: 'status', atMs: START_MS + index * 1_000, ...nothing });
    ledger.record(evaluation.entry);
    const { used, cap } = policyUsage(ledger, { ...statusFacts(), pairedAtMs: null }).windows.statusesPerDay;
    assert.deepEqual([cap, used], [10, index + 1]);
  }
  const ask = (facts: Partial<StatusFacts>) => refusalOf(evaluateStatus(ledger, statusFacts(facts)));
  assert.deepEqual(ask({ nowMs: START_MS + 9500 }), ['STATUSES_DAILY_CAP_REACHED', 86_391]);
  assert.deepEqual(ask({ nowMs: START_MS + DAY_MS - 1 }), ['STATUSES_DAILY_CAP_REACHED', 1]);
  assert.equal(ask({ nowMs: START_MS + DAY_MS }), 'admitted');
  assert.equal(ask({ settings: resolveSettings({ statusesPerDay: 11 }) }), 'admitted');
  const message = evaluateMessage(ledger, messageFacts({ nowMs: START_MS + 9500 }));
  assert.ok(message.isAdmitted);
  assert.equal(message.verdict.usage.today, 1);
});
