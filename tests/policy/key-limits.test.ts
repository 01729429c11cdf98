import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  DEFAULT_RATE_LIMITS,
  KeyLimits,
  RATE_LIMIT_RANGE,
  type RateLimits,
} from '../../policy/limits/key-limits.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { RateOracle } from './rate-oracle.ts';
import { START_MS } from './sends.ts';

const keyId = 'key';
const wide = 100_000_000;

describe('the limits of a key (docs/contract.md, API limits)', () => {
  test('are 60 a minute, 1,000 an hour and 10,000 a day unless given', () => {
    assert.deepEqual(DEFAULT_RATE_LIMITS, { minute: 60, hour: 1_000, day: 10_000 });
  });

  test('hold in every window to the millisecond, and a refused call counts nowhere', () => {
    const keys = new KeyLimits();
    const limits = { minute: 2, hour: 3, day: 4 };
    const take = (nowMs: number) => {
      const { isAdmitted, scope, remaining, resetAtSeconds, retryAfterSeconds } = keys.take({
        keyId,
        limits,
        nowMs,
      });
      return [isAdmitted, scope, remaining, resetAtSeconds - START_MS / 1_000, retryAfterSeconds];
    };
    assert.deepEqual(take(START_MS), [true, 'minute', 1, 60, undefined]);
    assert.deepEqual(take(START_MS + 500), [true, 'minute', 0, 60, undefined]);
    assert.deepEqual(take(START_MS + 600), [false, 'minute', 0, 60, 60]);
    assert.deepEqual(take(START_MS + MINUTE_MS - 1), [false, 'minute', 0, 60, 1]);
    assert.deepEqual(take(START_MS + MINUTE_MS), [true, 'hour', 0, 3600, undefined]);
    assert.deepEqual(take(START_MS + 2 * MINUTE_MS), [false, 'hour', 0, 3600, 3480]);
    assert.deepEqual(take(START_MS + HOUR_MS), [true, 'day', 0, 86_400, undefined]);
    assert.deepEqual(take(START_MS + 2 * HOUR_MS), [false, 'day', 0, 86_400, 22 * 3600]);
    assert.deepEqual(take(START_MS + DAY_MS), [true, 'day', 0, 86_401, undefined]);
  });

  test('the longest of several full windows sets the time to retry', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1, hour: 1, day: wide };
    assert.equal(keys.take({ keyId, limits, nowMs: START_MS }).scope, 'hour');
    const refusedDecision = keys.take({ keyId, limits, nowMs: START_MS + 1 });
    assert.deepEqual(
      [refusedDecision.scope, refusedDecision.limit, refusedDecision.retryAfterSeconds],
      ['hour', 1, 3600],
    );
  });

  test('the shortest of several windows with as much left for as long is returned', () => {
    const limits = { minute: 5, hour: 5, day: 5 };
    assert.equal(new KeyLimits().narrowestBucket({ keyId, limits, nowMs: START_MS }).scope, 'minute');
  });

  test('reading the limits counts no call, and an unused key has all its calls', () => {
    const keys = new KeyLimits();
    const look = { keyId, limits: DEFAULT_RATE_LIMITS, nowMs: START_MS };
    const { scope, remaining } = keys.narrowestBucket(look);
    assert.deepEqual([scope, remaining], ['minute', 60]);
    const wholeBuckets = keys.peek(look);
    assert.deepEqual(
      wholeBuckets.map(({ scope, limit, remaining, resetAtSeconds }) => [
        scope,
        limit,
        remaining,
        resetAtSeconds,
      ]),
      [
        ['minute', 60, 60, START_MS / 1_000],
        ['hour', 1_000, 1_000, START_MS / 1_000],
        ['day', 10_000, 10_000, START_MS / 1_000],
      ],
    );
    assert.deepEqual(keys.peek(look), wholeBuckets);
    keys.take(look);
    assert.deepEqual(
      keys.peek(look).map(({ remaining }) => remaining),
      [59, 999, 9999],
    );
  });

  test('up to 1,000 are exact; above, a call counts until its 256th of the window is over, never less', () => {
    for (const [limit, lateMs] of [
      [1_000, 0],
      [1001, MINUTE_MS / 256],
    ] as const) {
      const keys = new KeyLimits();
      const limits = { minute: limit, hour: wide, day: wide };
      for (let index = 0; index < limit; index += 1)
        assert.ok(keys.take({ keyId, limits, nowMs: START_MS }).isAdmitted);
      assert.equal(keys.take({ keyId, limits, nowMs: START_MS + MINUTE_MS - 1 }).isAdmitted, false);
      assert.equal(
        keys.take({ keyId, limits, nowMs: START_MS + MINUTE_MS + Math.ceil(lateMs) }).isAdmitted,
        true,
      );
    }
  });

  test('above 1,000 the returned second is that of the first millisecond at which the sub-bucket is gone', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1001, hour: wide, day: wide };
    for (let index = 0; index < 1001; index += 1) keys.take({ keyId, limits, nowMs: START_MS });
    const bucket = Math.floor((START_MS * 256) / MINUTE_MS);
    const goneMs = Math.ceil(((bucket + 257) * MINUTE_MS) / 256);
    const told = (nowMs: number) => keys.take({ keyId, limits, nowMs }).retryAfterSeconds;
    assert.deepEqual(
      [-1001, -1_000, -1, 0].map((offMs) => told(goneMs + offMs)),
      [2, 1, 1, undefined],
    );
  });

  test('keys are independent, and a forgotten one starts again', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1, hour: 1, day: 1 };
    for (const id of ['a', 'b', 'c']) {
      assert.ok(keys.take({ keyId: id, limits, nowMs: START_MS }).isAdmitted);
      assert.equal(keys.take({ keyId: id, limits, nowMs: START_MS }).isAdmitted, false);
    }
    keys.forget('b');
    keys.forget('unknown');
    assert.ok(keys.take({ keyId: 'd', limits, nowMs: START_MS }).isAdmitted, 'takes the place of b');
    assert.ok(keys.take({ keyId: 'b', limits, nowMs: START_MS }).isAdmitted);
    assert.equal(keys.take({ keyId: 'a', limits, nowMs: START_MS }).isAdmitted, false);
    assert.equal(keys.take({ keyId: 'd', limits, nowMs: START_MS }).isAdmitted, false);
  });

  test('hold for a key that is never idle, however long', () => {
    const keys = new KeyLimits();
    const limits = { minute: wide, hour: wide, day: 24 };
    for (let hour = 0; hour < 24 * 120; hour += 1) {
      const nowMs = START_MS + hour * HOUR_MS;
      assert.ok(keys.take({ keyId, limits, nowMs }).isAdmitted);
      const isFull = hour >= 23;
      assert.equal(
        keys.take({ keyId, limits, nowMs: nowMs + 1 }).retryAfterSeconds,
        isFull ? 3600 : undefined,
      );
      if (!isFull) {
        keys.forget(keyId);
        for (let past = 0; past <= hour; past += 1)
          keys.take({ keyId, limits, nowMs: START_MS + past * HOUR_MS });
      }
    }
  });

  test('hold over the very moment at which 32 bits of milliseconds run out', () => {
    const keys = new KeyLimits();
    const limits = { minute: wide, hour: wide, day: 3 };
    for (let step = 0; step <= 128; step += 1) {
      const nowMs = START_MS + step * 2 ** 25;
      assert.ok(keys.take({ keyId, limits, nowMs }).isAdmitted);
      assert.equal(keys.peek({ keyId, limits, nowMs })[2]?.remaining, Math.max(0, 2 - step));
    }
    const later = { keyId, limits, nowMs: START_MS + 2 ** 32 + 20 * HOUR_MS };
    assert.equal(keys.peek(later)[2]?.remaining, 2, 'the last call still counts');
  });

  test('forgetting a key leaves its neighbours as they are', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1, hour: wide, day: wide };
    for (const id of ['a', 'b', 'c']) keys.take({ keyId: id, limits, nowMs: START_MS });
    keys.forget('b');
    for (const id of ['a', 'c'])
      assert.equal(keys.take({ keyId: id, limits, nowMs: START_MS }).isAdmitted, false);
  });

  test('a key may be given 1 to 100,000,000 calls', () => {
    assert.deepEqual(RATE_LIMIT_RANGE, { floor: 1, roof: 100_000_000 });
  });

  test('the state is reported until it is stored, and again after each change', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1, hour: 10, day: 10 };
    assert.equal(keys.changedState(keyId), undefined);
    keys.peek({ keyId, limits, nowMs: START_MS });
    assert.equal(keys.changedState(keyId), undefined);
    keys.take({ keyId, limits, nowMs: START_MS });
    const changedKey = keys.changedState(keyId);
    assert.ok(changedKey);
    const { state } = changedKey;
    assert.match(state, /^[A-Za-z0-9_-]+$/);
    assert.equal(keys.changedState(keyId)?.state, state, 'nobody said that it is stored');
    keys.onStored(changedKey);
    assert.equal(keys.changedState(keyId), undefined);
    keys.take({ keyId, limits, nowMs: START_MS });
    assert.equal(keys.changedState(keyId), undefined, 'a refusal changes nothing');
    for (const broken of ['', 'A', '!', `${state}`.slice(0, -1), `${state}`.slice(0, -3)])
      assert.throws(() => new KeyLimits().restore({ keyId, state: broken, nowMs: START_MS }));
    for (const [nowMs, hasChanged] of [
      [START_MS, false],
      [START_MS - 1, true],
    ] as const) {
      const restored = new KeyLimits();
      restored.restore({ keyId, state, nowMs });
      assert.equal(restored.hasChanged(keyId), hasChanged, 'only calls of a clock ahead are stored again');
    }
  });
});

test('a call that is counted while a state is being stored is still to be stored', () => {
  const keys = new KeyLimits();
  const call = { keyId: 'k', limits: { minute: 5, hour: 10, day: 10 }, nowMs: START_MS };
  keys.take(call);
  const changedKey = keys.changedState('k');
  assert.ok(changedKey);
  keys.take(call);
  keys.onStored(changedKey);
  assert.notEqual(keys.changedState('k'), undefined);
});

describe('memory', () => {
  test('depends on the limit and not on the traffic, and idle keys free theirs', () => {
    const keys = new KeyLimits();
    const limits = { minute: wide, hour: wide, day: wide };
    const exact = { minute: 1_000, hour: 1_000, day: 1_000 };
    for (let index = 0; index < 30_000; index += 1) {
      keys.take({ keyId: 'wide', limits, nowMs: START_MS + index * 7_000 });
      keys.take({ keyId: 'exact', limits: exact, nowMs: START_MS + index * 7_000 });
    }
    // In memory are those that count, and at most as many again that no longer do.
    assert.ok(keys.points <= 2 * (3 * 257 + 3 * 1_000), `${keys.points} points`);
    const nowMs = START_MS + 10 * DAY_MS;
    for (const id of ['wide', 'exact'])
      assert.ok(keys.peek({ keyId: id, limits, nowMs }).every(({ remaining }) => remaining === wide));
    assert.equal(keys.points, 0);
  });

  test('a busy key that grows quiet frees the memory that it no longer needs', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1_000, hour: 1_000, day: 1_000 };
    for (let index = 0; index < 500; index += 1) keys.take({ keyId, limits, nowMs: START_MS + index });
    for (let hour = 1; hour < 48; hour += 1)
      assert.ok(keys.take({ keyId, limits, nowMs: START_MS + hour * HOUR_MS }).isAdmitted);
    // 24 calls of a day are left, one of the hour and one of the minute.
    assert.ok(keys.points <= 2 * (24 + 1 + 1), `${keys.points} points`);
  });

  test('a sweep checks the given number of keys, and continues from there', () => {
    const limits = { minute: 1_000, hour: 1_000, day: 1_000 };
    for (const [keyCounts, expected] of [
      [
        [1, 1, 1],
        [3 * 4, 3 * 8, 3 * 16],
      ],
      [
        [2, 1],
        [3 * 12, 3 * 16],
      ],
    ] as const) {
      const keys = new KeyLimits();
      for (const [keyId, calls] of [
        ['a', 4],
        ['b', 8],
        ['c', 16],
      ] as const) {
        for (let index = 0; index < calls; index += 1) keys.take({ keyId, limits, nowMs: START_MS + index });
      }
      const freed = keyCounts.map((keyCount) => {
        const before = keys.points;
        keys.sweep({ nowMs: START_MS + 2 * DAY_MS, keyCount });
        return before - keys.points;
      });
      assert.deepEqual(freed, expected);
    }
  });

  test('a sweep comes round: keys added later are swept too', () => {
    const keys = new KeyLimits();
    const limits = { minute: 1, hour: 1, day: 1 };
    keys.take({ keyId: 'a', limits, nowMs: START_MS });
    keys.sweep({ nowMs: START_MS, keyCount: 100 });
    keys.take({ keyId: 'b', limits, nowMs: START_MS });
    keys.sweep({ nowMs: START_MS + DAY_MS, keyCount: 100 });
    assert.ok(keys.take({ keyId: 'b', limits, nowMs: START_MS }).isAdmitted, 'time that was seen stays');
  });
});

test('in any sequence of calls, limits, clocks and restarts every decision is the oracle’s', (context) => {
  const limit = fc.constantFrom(1, 3, 17, 40, 1_000, 1001, 1500, wide);
  const limits: fc.Arbitrary<RateLimits> = fc.record({ minute: limit, hour: limit, day: limit });
  const step = fc.record({
    calls: fc.constantFrom(1, 1, 1, 2, 5, 40, 300, 1100),
    paceMs: fc.constantFrom(0, 0, 1, 7, 235, 1_000, 15_000),
    waitMs: fc.constantFrom(
      ...[
        0,
        1,
        234,
        235,
        1_000,
        MINUTE_MS - 1,
        MINUTE_MS,
        14_062,
        HOUR_MS,
        337_500,
        DAY_MS - 1,
        DAY_MS,
        60 * DAY_MS,
      ],
      ...[-1, -1_000, -MINUTE_MS, -HOUR_MS],
    ),
    limits: fc.option(limits, { freq: 4 }),
    after: fc.constantFrom('nothing', 'restart', 'sweep'),
  });
  fc.assert(
    fc.property(limits, fc.array(step, { minLength: 1, maxLength: 12, size: 'max' }), (first, steps) => {
      let present = first;
      let nowMs = START_MS;
      let keys = new KeyLimits();
      let state = '';
      const oracle = new RateOracle();
      for (const { calls, paceMs, waitMs, limits: tuned, after } of steps) {
        present = tuned ?? present;
        for (let call = 0; call < calls; call += 1) {
          const decision = keys.take({ keyId, limits: present, nowMs });
          assert.deepEqual(decision, oracle.take(present, nowMs));
          assert.equal('retryAfterSeconds' in decision, !decision.isAdmitted);
          nowMs += paceMs;
        }
        assert.deepEqual(keys.peek({ keyId, limits: present, nowMs }), oracle.peek(present, nowMs));
        const changedKey = keys.changedState(keyId);
        if (changedKey !== undefined) {
          state = changedKey.state;
          keys.onStored(changedKey);
          oracle.save();
        }
        if (after === 'restart' && state !== '') {
          keys = new KeyLimits();
          keys.restore({ keyId, state, nowMs: Number.POSITIVE_INFINITY });
          oracle.restart();
        } else if (after === 'sweep') {
          keys.sweep({ nowMs, keyCount: 1 });
        }
        nowMs += waitMs;
      }
    }),
    propertyRuns(context, 300),
  );
});

test('no window of any length ever admits one call too many, under any clock', (context) => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom(0, 1, 100, 5_000, 20_000, 59_999, -30_000), fc.nat({ max: 30 })),
    {
      maxLength: 60,
      size: 'max',
    },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 50 }), (sequence, minute) => {
      const keys = new KeyLimits();
      const taken: number[] = [];
      let nowMs = START_MS;
      let seenMs = 0;
      for (const [waitMs, calls] of sequence) {
        nowMs += waitMs;
        for (let call = 0; call < calls; call += 1) {
          seenMs = Math.max(seenMs, nowMs);
          if (keys.take({ keyId, limits: { minute, hour: wide, day: wide }, nowMs }).isAdmitted)
            taken.push(seenMs);
        }
      }
      // They are in order. From each on, one more than the limit takes at least a minute.
      for (const [index, startMs] of taken.entries())
        assert.ok((taken[index + minute] ?? Number.POSITIVE_INFINITY) >= startMs + MINUTE_MS);
    }),
    propertyRuns(context, 300),
  );
});
