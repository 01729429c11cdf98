import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { evaluateGroup } from '../../policy/evaluate-group.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { evaluateStatus } from '../../policy/evaluate-status.ts';
import { decodeEntry, encodeEntry, type LedgerEntry } from '../../policy/ledger-entry.ts';
import { policyUsage } from '../../policy/policy-usage.ts';
import { kindSet, LEDGER_BOUND, SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { messageFacts, START_MS, sendMany } from './sends.ts';

const entry: LedgerEntry = {
  kind: 'cold',
  atMs: START_MS,
  subject: 999_999_999_999_999,
  fingerprint: { high: 0xffff_ffff, low: 0 },
};

describe('entries', () => {
  test('are the same when read as when written, for every kind', () => {
    for (const kind of ['known', 'cold', 'declared', 'group', 'status'] as const) {
      const written = encodeEntry({ ...entry, kind });
      assert.deepEqual(decodeEntry(written), { ...entry, kind });
      assert.match(written, /^[kcdgs][0-9a-z.]{4,40}$/);
    }
  });

  test('with a number that could not be read back are not written', () => {
    for (const wrong of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.throws(() => encodeEntry({ ...entry, atMs: wrong }), /cannot hold/);
      assert.throws(() => encodeEntry({ ...entry, fingerprint: { high: 0, low: wrong } }), /cannot hold/);
    }
  });

  test('never written are not read', () => {
    const written = encodeEntry(entry);
    for (const broken of [
      '',
      'x',
      written.slice(1),
      `x${written.slice(1)}`,
      `${written}.`,
      written.toUpperCase(),
    ])
      assert.throws(() => decodeEntry(broken), /not readable/);
    assert.throws(() => SendLedger.restore([written, 'junk']), /not readable/);
  });
});

/** Makes a message each millisecond: to numbers with equal lower or upper words, to a group, and a status. */
function chatted() {
  const [anna, berta, carl, dora] = [2 ** 33 + 7, 2 ** 34 + 7, 2 ** 35 + 9, 2 ** 33 + 8];
  const ledger = new SendLedger();
  const sent: [LedgerEntry['kind'], number][] = [
    ['known', berta],
    ['declared', dora],
    ['cold', anna],
    ['group', 7],
    ['declared', anna],
    ['status', 0],
    ['cold', anna],
  ];
  for (const [index, [kind, subject]] of sent.entries())
    ledger.record({ ...entry, kind, subject, atMs: START_MS + index });
  return { ledger, anna, berta, carl, dora };
}

/** A shop with every budget at its roof: 250 messages, 100 shares of groups of one, 30 statuses. */
function fullShop() {
  const ledger = new SendLedger();
  const stored: string[] = [];
  const settings = resolveSettings({ groupsPerDay: 100, statusesPerDay: 30 });
  const pairedAtMs = START_MS - 100 * DAY_MS;
  let nowMs = START_MS;
  const record = (evaluation: { isAdmitted: boolean; entry?: LedgerEntry }) => {
    assert.ok(evaluation.entry !== undefined, JSON.stringify(evaluation));
    ledger.record(evaluation.entry);
    stored.push(encodeEntry(evaluation.entry));
  };
  for (let index = 0; index < 250; index += 1) {
    const recipient = `+4915${10_000_000 + index}`;
    const text = `Text ${index}`;
    nowMs = START_MS + index * 2 * MINUTE_MS;
    record(evaluateMessage(ledger, messageFacts({ recipient, text, pairedAtMs, settings, nowMs })));
    if (index % 2 === 0 && index < 200) {
      const group = { participantCount: 5, isAdmin: true, announce: false };
      const content = { groupId: `${index}@g.us`, text, mediaUrl: undefined };
      record(evaluateGroup(ledger, { ...content, group, pairedAtMs, settings, nowMs }));
    }
    if (index < 30) record(evaluateStatus(ledger, { caption: text, hasAttachment: false, settings, nowMs }));
  }
  return { ledger, stored, settings, pairedAtMs, nowMs };
}

describe('the ledger', () => {
  test('with a shop at all its caps holds LEDGER_BOUND entries in 7,600 bytes', () => {
    const { ledger } = fullShop();
    assert.equal(LEDGER_BOUND, 380);
    assert.equal(ledger.size, LEDGER_BOUND);
    assert.equal(ledger.bytes, 7600);
  });

  test('restored from the entries that LTRIM leaves shows the same usage at every moment of the next day', () => {
    const { ledger, stored, settings, pairedAtMs, nowMs } = fullShop();
    const restored = SendLedger.restore(['kk9.1.0.0', ...stored].slice(-LEDGER_BOUND));
    for (let atMs = nowMs; atMs < nowMs + DAY_MS + HOUR_MS; atMs += 7 * MINUTE_MS) {
      const facts = { settings, pairedAtMs, nowMs: atMs };
      assert.deepEqual(policyUsage(restored, facts), policyUsage(ledger, facts));
    }
  });

  test('keeps only entries that count: it grows, and shrinks when the days grow quiet', () => {
    const { ledger, nowMs } = fullShop();
    const day = (index: number) => ({ ...entry, atMs: nowMs + (index + 1) * DAY_MS });
    for (let index = 0; index < 8; index += 1) ledger.record(day(index));
    assert.equal(ledger.size, 1);
    assert.equal(ledger.bytes, 320);
  });

  test('holds more than its bound rather than lose an entry that counts', () => {
    const ledger = new SendLedger();
    for (let index = 0; index < 1_000; index += 1) ledger.record({ ...entry, atMs: START_MS + index });
    const weight = ledger.weightSince({ kinds: kindSet('cold'), sinceMs: START_MS - 1 });
    assert.equal(weight, 1_000);
  });

  test('keeps exact times for any length of life', () => {
    const ledger = new SendLedger();
    for (let hour = 0; hour < 24 * 120; hour += 1) {
      const atMs = START_MS + hour * HOUR_MS;
      ledger.record({ ...entry, atMs });
      assert.equal(ledger.newestMs, atMs);
      assert.equal(ledger.size, Math.min(hour + 1, 24));
      const { oldestMs } = ledger.usageSince({ kinds: kindSet('cold'), sinceMs: Number.NEGATIVE_INFINITY });
      assert.equal(oldestMs, Math.max(START_MS, atMs - 23 * HOUR_MS));
    }
  });

  test('keeps exact times over the very moment at which 32 bits run out', () => {
    const ledger = new SendLedger();
    for (let step = 0; step <= 130; step += 1) {
      const atMs = START_MS + step * 2 ** 25;
      ledger.record({ ...entry, atMs });
      assert.equal(ledger.newestMs, atMs);
    }
  });

  test('loses nothing that counts when it shrinks', () => {
    for (const remaining of [1, 15, 16, 17, 40, 63, 64, 65, 94, 95]) {
      const ledger = new SendLedger();
      for (let index = 0; index < LEDGER_BOUND; index += 1)
        ledger.record({ ...entry, atMs: START_MS + index * MINUTE_MS });
      const atMs = START_MS + (LEDGER_BOUND - 1 - remaining) * MINUTE_MS + DAY_MS;
      ledger.record({ ...entry, atMs });
      assert.equal(ledger.size, remaining + 1);
      assert.equal(ledger.weightSince({ kinds: kindSet('cold'), sinceMs: atMs - DAY_MS }), remaining + 1);
    }
  });

  test('distinguishes groups by both halves of their fingerprint, and from messages', () => {
    const ledger = new SendLedger();
    ledger.record({ ...entry, kind: 'group', subject: 1, fingerprint: { high: 1, low: 2 } });
    ledger.record({ ...entry, fingerprint: { high: 3, low: 2 } });
    const timesOf = (high: number, low: number) =>
      ledger.groupTimesMs({ fingerprint: { high, low }, nowMs: START_MS });
    assert.deepEqual(timesOf(1, 2), [START_MS]);
    for (const [high, low] of [
      [3, 2],
      [1, 3],
      [2, 1],
    ] as const)
      assert.deepEqual(timesOf(high, low), []);
  });

  test('distinguishes recipients of the same content by every bit of their numbers', () => {
    const ledger = new SendLedger();
    const { fingerprint } = entry;
    for (let index = 0; index < 20; index += 1)
      ledger.record({ ...entry, subject: 3_700_000_000 + index * 2 ** 32 });
    const tally = ledger.tallyMessages({ recipient: 33_612_345_678, fingerprint, nowMs: START_MS });
    assert.equal(tally.sameContentMs.length, 20);
  });

  test('returns the times of the messages to a recipient within 24 hours, newest first', () => {
    const { ledger, anna, carl } = chatted();
    const times = (nowMs: number) =>
      ledger.messageTimesMs({ recipient: anna, nowMs }).map((ms) => ms - START_MS);
    assert.deepEqual(times(START_MS + 6), [6, 4, 2]);
    assert.deepEqual(times(START_MS + 2 + DAY_MS), [6, 4]);
    assert.deepEqual(times(START_MS + 6 + DAY_MS), []);
    assert.deepEqual(ledger.messageTimesMs({ recipient: carl, nowMs: START_MS + 6 }), []);
  });

  test('returns each recipient of a message once, and no group or status', () => {
    const { ledger, anna, berta, dora } = chatted();
    assert.deepEqual(ledger.recipients(), [berta, dora, anna]);
  });

  test('counts what went to one number for the other once both are known to be of one person', () => {
    const { ledger, anna, berta, carl, dora } = chatted();
    const weights = () =>
      (['known', 'cold', 'declared', 'group', 'status'] as const).map((kind) =>
        ledger.weightSince({ kinds: kindSet(kind), sinceMs: START_MS - 1 }),
      );
    const before = weights();
    ledger.mergeRecipient(anna, carl);
    assert.deepEqual(ledger.recipients(), [berta, dora, carl]);
    const nowMs = START_MS + 6;
    assert.deepEqual(ledger.messageTimesMs({ recipient: carl, nowMs }), [
      START_MS + 6,
      START_MS + 4,
      START_MS + 2,
    ]);
    assert.deepEqual(weights(), before);
    ledger.mergeRecipient(dora, berta);
    assert.deepEqual(ledger.recipients(), [berta, carl]);
    ledger.mergeRecipient(berta, anna);
    assert.deepEqual(ledger.recipients(), [anna, carl]);
  });

  test('with more sends is another ledger that counts them too, and the first one stays as it is', () => {
    const { ledger, stored } = fullShop();
    const more = [1, 2].map((index) => ({ ...entry, atMs: ledger.newestMs, subject: index }));
    const longer = ledger.with(more);
    const query = { recipient: 1, fingerprint: entry.fingerprint, nowMs: ledger.newestMs };
    const restored = SendLedger.restore([...stored, ...more.map(encodeEntry)]);
    assert.deepEqual(longer.tallyMessages(query), restored.tallyMessages(query));
    assert.deepEqual(ledger.tallyMessages(query), SendLedger.restore(stored).tallyMessages(query));
    assert.deepEqual([longer.size, ledger.size], [LEDGER_BOUND + 2, LEDGER_BOUND]);
    const shortLedger = SendLedger.restore([encodeEntry(entry)]);
    const shortAndMore = shortLedger.with([{ ...entry, subject: 1 }]);
    shortLedger.record({ ...entry, subject: 2 });
    assert.deepEqual(
      [shortLedger.recipients(), shortAndMore.recipients()],
      [
        [entry.subject, 2],
        [entry.subject, 1],
      ],
    );
  });

  test('files an entry that comes with an earlier time under the newest', () => {
    const ledger = new SendLedger();
    assert.equal(ledger.newestMs, Number.NEGATIVE_INFINITY);
    ledger.record(entry);
    ledger.record({ ...entry, atMs: START_MS - 1 });
    assert.equal(ledger.newestMs, START_MS);
    assert.equal(ledger.weightSince({ kinds: kindSet('cold'), sinceMs: START_MS - 1 }), 2);
  });
});

test('operators see each window’s use, cap and next relief, as of no earlier than the newest send', () => {
  const ledger = new SendLedger();
  const settings = resolveSettings({ statusesPerDay: 7 });
  const pairedAtMs = START_MS - 4 * DAY_MS;
  sendMany(ledger, { count: 3, paceMs: HOUR_MS, facts: { isCustomer: false, pairedAtMs } });
  ledger.record({ ...entry, kind: 'group', subject: 4, atMs: START_MS + 2 * HOUR_MS });
  const bars = (nowMs: number) => policyUsage(ledger, { settings, pairedAtMs, nowMs });
  const lastMs = START_MS + 2 * HOUR_MS;
  assert.deepEqual(bars(START_MS), {
    warmupDay: 4,
    windows: {
      perDay: { window: 'perDay', used: 3, cap: 50, nextReliefMs: START_MS + DAY_MS },
      perHour: { window: 'perHour', used: 1, cap: 10, nextReliefMs: lastMs + HOUR_MS },
      coldPerDay: { window: 'coldPerDay', used: 3, cap: 5, nextReliefMs: START_MS + DAY_MS },
      declaredPerDay: { window: 'declaredPerDay', used: 0, cap: 30, nextReliefMs: null },
      groupsPerDay: { window: 'groupsPerDay', used: 4, cap: 20, nextReliefMs: lastMs + DAY_MS },
      statusesPerDay: { window: 'statusesPerDay', used: 0, cap: 7, nextReliefMs: null },
    },
  });
  const laterUsage = bars(START_MS + DAY_MS);
  assert.equal(laterUsage.warmupDay, 5);
  assert.deepEqual(laterUsage.windows.perDay, {
    window: 'perDay',
    used: 2,
    cap: 50,
    nextReliefMs: START_MS + HOUR_MS + DAY_MS,
  });
});
