import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  DECLARATIONS_PER_DAY,
  DeclarationLedger,
  decodeDeclarations,
  encodeDeclarations,
  evaluateDeclarations,
} from '../../policy/declaration-limits.ts';
import type { DeclarationFact } from '../../policy/recipient-class.ts';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { refusalOf, START_MS } from './sends.ts';

function batch(count: number, current: DeclarationFact | null = null) {
  return Array.from({ length: count }, (_, index) => ({ phone: `+4915${10_000_000 + index}`, current }));
}

describe('declarations (docs/contract.md, Declarations)', () => {
  test('100 in a batch pass, 101 do not, whether new or not', () => {
    const ledger = new DeclarationLedger();
    const ask = (items: ReturnType<typeof batch>) =>
      refusalOf(evaluateDeclarations(ledger, { items, nowMs: START_MS }));
    assert.equal(ask(batch(100)), 'admitted');
    assert.deepEqual(ask(batch(101)), ['DECLARE_BATCH_TOO_LARGE', undefined]);
    assert.deepEqual(ask(batch(101, { expiresAtMs: null, isRevoked: false })), [
      'DECLARE_BATCH_TOO_LARGE',
      undefined,
    ]);
  });

  test('a number without an active declaration is new, and counts once however often it is listed', () => {
    const items = [
      { phone: '+491701234561', current: null },
      { phone: '+491701234561', current: null },
      { phone: '+491701234562', current: { expiresAtMs: null, isRevoked: false } },
      { phone: '+491701234563', current: { expiresAtMs: null, isRevoked: true } },
      { phone: '+491701234564', current: { expiresAtMs: START_MS, isRevoked: false } },
      { phone: '+491701234565', current: { expiresAtMs: START_MS + 1, isRevoked: false } },
    ];
    const evaluation = evaluateDeclarations(new DeclarationLedger(), { items, nowMs: START_MS });
    assert.deepEqual(evaluation, { isAdmitted: true, entry: { atMs: START_MS, count: 3 } });
  });

  test('both forms of a number count as one', () => {
    const items = ['+553196348800', '+5531996348800'].map((phone) => ({ phone, current: null }));
    const evaluation = evaluateDeclarations(new DeclarationLedger(), { items, nowMs: START_MS });
    assert.deepEqual(evaluation, { isAdmitted: true, entry: { atMs: START_MS, count: 1 } });
  });

  test('500 new in 24 hours, all or nothing, to the millisecond', () => {
    const ledger = new DeclarationLedger();
    for (let index = 0; index < 5; index += 1) {
      const count = index === 4 ? 99 : 100;
      ledger.record({ atMs: START_MS + index * 1_000, count });
    }
    const ask = (count: number, nowMs: number) =>
      refusalOf(evaluateDeclarations(ledger, { items: batch(count), nowMs }));
    assert.equal(ask(1, START_MS + 4_000), 'admitted');
    assert.deepEqual(ask(2, START_MS + 4_000), ['DECLARE_DAILY_CAP_REACHED', 86_396]);
    assert.deepEqual(ask(2, START_MS + DAY_MS - 1), ['DECLARE_DAILY_CAP_REACHED', 1]);
    assert.equal(ask(2, START_MS + DAY_MS), 'admitted');
    const renewed = batch(100, { expiresAtMs: null, isRevoked: false });
    const evaluation = evaluateDeclarations(ledger, { items: renewed, nowMs: START_MS + 4_000 });
    assert.deepEqual(evaluation, { isAdmitted: true, entry: null });
  });

  test('renewing is free even when the day’s 500 are spent', () => {
    const ledger = new DeclarationLedger();
    ledger.record({ atMs: START_MS, count: 501 });
    const items = batch(1, { expiresAtMs: null, isRevoked: false });
    assert.equal(refusalOf(evaluateDeclarations(ledger, { items, nowMs: START_MS })), 'admitted');
  });

  test('the returned second is that of the entry that frees just enough capacity', () => {
    const ask = (counts: number[], count: number, nowMs: number) => {
      const ledger = new DeclarationLedger();
      for (const [index, before] of counts.entries())
        ledger.record({ atMs: START_MS + index * 1_000, count: before });
      return refusalOf(evaluateDeclarations(ledger, { items: batch(count), nowMs }));
    };
    assert.deepEqual(ask([500], 1, START_MS + DAY_MS - 1), ['DECLARE_DAILY_CAP_REACHED', 1]);
    assert.deepEqual(ask([1, 499], 1, START_MS + 1_000), ['DECLARE_DAILY_CAP_REACHED', 86_399]);
    assert.deepEqual(ask([1, 1, 498], 2, START_MS + 2_000), ['DECLARE_DAILY_CAP_REACHED', 86_399]);
  });

  test('a clock that steps back frees no capacity', () => {
    const ledger = new DeclarationLedger();
    ledger.record({ atMs: START_MS, count: 500 });
    const nowMs = START_MS - HOUR_MS;
    const evaluation = evaluateDeclarations(ledger, { items: batch(1), nowMs });
    assert.deepEqual(refusalOf(evaluation), ['DECLARE_DAILY_CAP_REACHED', 25 * 3600]);
    ledger.record({ atMs: nowMs, count: 1 });
    assert.deepEqual(ledger.liveAt(START_MS).at(-1), { atMs: START_MS, count: 1 });
  });

  test('only text that was written by encode is read', () => {
    const entry = { atMs: START_MS, count: 100 };
    assert.deepEqual(decodeDeclarations(encodeDeclarations(entry)), entry);
    for (const encoded of ['', 'x', '1.2.3', 'A.1', '1.-']) assert.throws(() => decodeDeclarations(encoded));
  });
});

test('in any sequence batches agree with a plain list, the returned second is exact, and a restart changes nothing', (context) => {
  const step = fc.record({
    sizes: fc.array(
      fc.constantFrom<DeclarationFact['isRevoked'] | number | null>(
        null,
        true,
        false,
        1500,
        5_000,
        DAY_MS / 2,
      ),
      {
        maxLength: 60,
        size: 'max',
      },
    ),
    times: fc.integer({ min: 1, max: 12 }),
    waitMs: fc.constantFrom(0, 1, 500, 1_000, HOUR_MS, DAY_MS - 1, DAY_MS, -1_000, -HOUR_MS),
    restarts: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 14, size: 'max' }), (steps) => {
      let nowMs = START_MS;
      const plain: { atMs: number; count: number }[] = [];
      let stored: string[] = [];
      let ledger = new DeclarationLedger();
      for (const { sizes, times, waitMs, restarts } of steps) {
        const items = sizes.map((size, index) => ({
          phone: `+4915${10_000_000 + index}`,
          current: factOf(size, nowMs),
        }));
        const roomAt = (timeMs: number): number => {
          const atMs = Math.max(timeMs, plain.at(-1)?.atMs ?? timeMs);
          const used = plain
            .filter((entry) => atMs - entry.atMs < DAY_MS)
            .reduce((sum, entry) => sum + entry.count, 0);
          const isNew = ({ current }: (typeof items)[number]) =>
            current === null ||
            current.isRevoked ||
            (current.expiresAtMs !== null && current.expiresAtMs <= atMs);
          const count = items.filter(isNew).length;
          return count === 0 ? 0 : 500 - used - count;
        };
        for (let time = 0; time < times; time += 1) {
          const evaluation = evaluateDeclarations(ledger, { items, nowMs });
          assert.equal(evaluation.isAdmitted, roomAt(nowMs) >= 0);
          if (evaluation.isAdmitted) {
            if (evaluation.entry !== null) {
              plain.push(evaluation.entry);
              ledger.record(evaluation.entry);
              stored = [...stored, encodeDeclarations(evaluation.entry)].slice(-DECLARATIONS_PER_DAY);
            }
          } else {
            const seconds = evaluation.retryAfterSeconds ?? Number.NaN;
            assert.ok(roomAt(nowMs + 1_000 * seconds) >= 0, 'let through when promised');
            assert.ok(roomAt(nowMs + 1_000 * (seconds - 1)) < 0, 'still refused one second earlier');
          }
        }
        nowMs += waitMs;
        ledger = restarts ? DeclarationLedger.restore(stored, Number.POSITIVE_INFINITY) : ledger;
      }
    }),
    propertyRuns(context, 500),
  );
});

function factOf(kind: boolean | number | null, nowMs: number): DeclarationFact | null {
  if (kind === null) return null;
  return typeof kind === 'number'
    ? { expiresAtMs: nowMs + kind, isRevoked: false }
    : { expiresAtMs: null, isRevoked: kind };
}
