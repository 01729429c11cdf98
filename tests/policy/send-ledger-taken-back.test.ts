import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeEntry, type LedgerEntry } from '../../policy/ledger-entry.ts';
import { kindSet, SendLedger } from '../../policy/send-ledger.ts';
import { DAY_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { START_MS } from './sends.ts';

const entry: LedgerEntry = {
  kind: 'cold',
  atMs: START_MS,
  subject: 999_999_999_999_999,
  fingerprint: { high: 1, low: 2 },
};

test('a ledger finds the send to take back by its time, kind, content and any number of its recipient', () => {
  const carl = 2 ** 35 + 9;
  const isFound = (wanted: Partial<LedgerEntry>, otherSubjects?: readonly number[]) => {
    const ledger = new SendLedger();
    for (const atMs of [START_MS - 1, START_MS, START_MS + 1]) ledger.record({ ...entry, atMs });
    ledger.takeBack({ ...entry, ...wanted }, otherSubjects);
    return ledger.size === 2;
  };
  assert.deepEqual([isFound({}), isFound({ subject: carl }, [7, entry.subject])], [true, true]);
  const others: Partial<LedgerEntry>[] = [
    { atMs: START_MS - 2 },
    { atMs: START_MS + 2 },
    { kind: 'known' },
    { fingerprint: { high: 1, low: 1 } },
    { fingerprint: { high: 2, low: 2 } },
    { subject: carl },
  ];
  for (const other of others) assert.equal(isFound(other, [7]), false, JSON.stringify(other));
});

test('a ledger takes a send back once only', () => {
  const sends = [0, 1, 2].map((index) => ({ ...entry, atMs: START_MS + index }));
  for (const sent of sends) {
    const ledger = SendLedger.restore(sends.map(encodeEntry));
    for (const _ of [1, 2]) ledger.takeBack(sent);
    assert.deepEqual(
      ledger.timesMs(kindSet('cold')),
      sends.filter((other) => other !== sent).map(({ atMs }) => atMs),
    );
  }
});

test('a ledger without a send that was taken back is one that never had it', (context) => {
  const kinds = ['known', 'cold', 'declared', 'group', 'status'] as const;
  const subjects = [7, 2 ** 33 + 7, 2 ** 33 + 8];
  const fingerprints = [0, 1].flatMap((high) => [0, 1].map((low) => ({ high, low })));
  const contentOf = (ledger: SendLedger) => {
    const { size, newestMs: nowMs } = ledger;
    return {
      size,
      times: kinds.map((kind) => ledger.timesMs(kindSet(kind))),
      weights: kinds.map((kind) => ledger.weightSince({ kinds: kindSet(kind), sinceMs: START_MS - 1 })),
      recipients: ledger.recipients().sort(),
      toEach: subjects.map((recipient) => ledger.messageTimesMs({ recipient, nowMs })),
      ofEach: fingerprints.map((fingerprint) => ledger.groupTimesMs({ fingerprint, nowMs })),
      tallies: fingerprints.map((fingerprint) => ledger.tallyMessages({ recipient: 7, fingerprint, nowMs })),
    };
  };
  const send = fc.record({
    kind: fc.constantFrom(...kinds),
    waitMs: fc.constantFrom(0, 0, 1, MINUTE_MS),
    subject: fc.constantFrom(...subjects),
    fingerprint: fc.constantFrom(...fingerprints),
    isTakenBack: fc.boolean(),
  });
  const sends = fc.array(send, { minLength: 1, maxLength: 40, size: 'max' });
  fc.assert(
    fc.property(sends, fc.nat(20), fc.boolean(), (sequence, forgottenCount, isNewestFirst) => {
      // Sends that count no longer move the beginning of the ring.
      const forgotten = Array.from({ length: forgottenCount }, () => ({
        ...entry,
        atMs: START_MS - DAY_MS,
      }));
      let atMs = START_MS;
      const entries = sequence.map(({ waitMs, isTakenBack, ...sent }) => {
        atMs += waitMs;
        return { entry: { ...sent, atMs }, isTakenBack };
      });
      const ledgerOf = (list: typeof entries) =>
        SendLedger.restore([...forgotten, ...list.map((item) => item.entry)].map(encodeEntry));
      const ledger = ledgerOf(entries);
      const takenBack = entries.filter((item) => item.isTakenBack);
      for (const item of isNewestFirst ? takenBack.toReversed() : takenBack) ledger.takeBack(item.entry);
      const rest = ledgerOf(entries.filter((item) => !item.isTakenBack));
      if (takenBack.length < entries.length) assert.deepEqual(contentOf(ledger), contentOf(rest));
    }),
    propertyRuns(context, 300),
  );
});
