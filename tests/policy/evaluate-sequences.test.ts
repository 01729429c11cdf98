import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isOptOut } from '../../policy/opt-out.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { propertyRuns } from '../testbed/property-runs.ts';
import { CONTENTS, ShopModel } from './shop-model.ts';

/** Numbers of every length there is, two of them alike in their lower 32 bits. */
const phones = [
  '+1234567',
  '+491701234567',
  '+494996201863',
  '+999999999999999',
  '+4477009001',
  '+33612345678',
];
const groups = ['120363042345678901@g.us', '491701234567-1612345678@g.us', 'a@g.us'];

type Step = (shop: ShopModel) => void;

const phone = fc.constantFrom(...phones);
const content = fc.nat({ max: CONTENTS.length - 1 });
const isCommitted = fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0);

const message = fc.record({ to: phone, content, isCommitted }).map(
  (send): Step =>
    (shop) => {
      shop.send({ type: 'message', to: send.to, content: send.content }, send.isCommitted);
    },
);

/** Many sends at an even pace, each to another number, most of them customers. */
const burst = fc
  .record({
    count: fc.integer({ min: 5, max: 60 }),
    paceMs: fc.constantFrom(0, 1, 1_000, MINUTE_MS, 2 * MINUTE_MS, 10 * MINUTE_MS),
    content,
    from: fc.nat({ max: 400 }),
    isCustomer: fc.boolean(),
    changesContent: fc.boolean(),
  })
  .map(
    (send): Step =>
      (shop) => {
        for (let index = 0; index < send.count; index += 1) {
          const to = `+4915${10_000_000 + send.from + index}`;
          shop.person(to).isCustomer ||= send.isCustomer;
          const step = send.changesContent ? index : 0;
          shop.send({ type: 'message', to, content: (send.content + step) % CONTENTS.length }, true);
          shop.nowMs += send.paceMs;
        }
      },
  );

const group = fc
  .record({
    to: fc.constantFrom(...groups),
    group: fc.option(
      fc.record({
        participantCount: fc.constantFrom(0, 1, 49, 50, 51, 100, 101, 256, 1024, 5001),
        isAdmin: fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0),
      }),
      { freq: 12 },
    ),
    isCommitted,
  })
  .map(
    (send): Step =>
      (shop) =>
        shop.send({ type: 'group', to: send.to, group: send.group }, send.isCommitted),
  );

const status = isCommitted.map(
  (committed): Step =>
    (shop) =>
      shop.send({ type: 'status' }, committed),
);

const inbound = fc.record({ from: phone, text: fc.constantFrom('thanks', 'Stop!', 'Arrêt', 'what?') }).map(
  ({ from, text }): Step =>
    (shop) => {
      Object.assign(shop.person(from), { lastInboundAtMs: shop.nowMs, hasOptedOut: isOptOut(text) });
    },
);

const declare = fc
  .record({
    of: phone,
    expiresInMs: fc.option(fc.constantFrom(1, 1500, 10 * MINUTE_MS, HOUR_MS, DAY_MS + 1), { freq: 2 }),
    isRevoked: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
  })
  .map(
    ({ of, expiresInMs, isRevoked }): Step =>
      (shop) => {
        const expiresAtMs = expiresInMs === null ? null : shop.nowMs + expiresInMs;
        shop.person(of).declaration = { expiresAtMs, isRevoked };
      },
  );

const tune = fc
  .record({
    coldPerDay: fc.constantFrom(null, 1, 2, 50),
    declaredPerDay: fc.constantFrom(0, 1, 2, 30),
    groupsPerDay: fc.constantFrom(1, 3, 20, 100),
    groupPerRecipient24h: fc.constantFrom(1, 2, 5),
    statusesPerDay: fc.constantFrom(1, 2, 30),
  })
  .map(
    (tuning): Step =>
      (shop) =>
        shop.tune(tuning),
  );

const pair = fc
  .constantFrom(
    null,
    0,
    1,
    3 * DAY_MS - HOUR_MS,
    3 * DAY_MS,
    7 * DAY_MS - 1,
    7 * DAY_MS,
    14 * DAY_MS - HOUR_MS,
    14 * DAY_MS,
    -HOUR_MS,
  )
  .map(
    (agoMs): Step =>
      (shop) => {
        shop.pairedAtMs = agoMs === null ? null : shop.nowMs - agoMs;
      },
  );

const lengths = [
  1,
  999,
  1_000,
  1001,
  10 * MINUTE_MS - 1,
  10 * MINUTE_MS,
  HOUR_MS - 1,
  HOUR_MS,
  5 * HOUR_MS,
  DAY_MS - 1,
  DAY_MS,
  3 * DAY_MS,
];
const wait = fc.constantFrom(...lengths, 60 * DAY_MS).map(
  (ms): Step =>
    (shop) => {
      shop.nowMs += ms;
    },
);
const stepBack = fc.constantFrom(...lengths).map(
  (ms): Step =>
    (shop) => {
      shop.nowMs -= ms;
    },
);
/** To just around the moment that the last refusal named. */
const waitAsTold = fc.constantFrom(-1001, -1_000, -1, 0, 1).map(
  (offByMs): Step =>
    (shop) => {
      shop.nowMs += Math.max(0, 1_000 * (shop.lastRetryAfterSeconds ?? 0) + offByMs);
    },
);
const restart = fc.constant<Step>((shop) => shop.restart());

const steps = fc.array(
  fc.oneof(
    { arbitrary: message, weight: 12 },
    { arbitrary: burst, weight: 3 },
    { arbitrary: group, weight: 6 },
    { arbitrary: status, weight: 4 },
    { arbitrary: inbound, weight: 3 },
    { arbitrary: declare, weight: 4 },
    { arbitrary: tune, weight: 2 },
    { arbitrary: pair, weight: 2 },
    { arbitrary: wait, weight: 6 },
    { arbitrary: waitAsTold, weight: 6 },
    { arbitrary: stepBack, weight: 2 },
    { arbitrary: restart, weight: 3 },
  ),
  { minLength: 5, maxLength: 45, size: 'max' },
);

const everyAnswer = [
  'BULK_PATTERN_BLOCKED',
  'COLD_RECIPIENT_CAP_REACHED',
  'DAILY_CAP_REACHED',
  'DECLARED_RECIPIENT_CAP_REACHED',
  'GROUP_CONTEXT_REQUIRED',
  'GROUP_DAILY_CAP_REACHED',
  'GROUP_NOT_ADMINISTERED',
  'HOURLY_CAP_REACHED',
  'RECIPIENT_OPTED_OUT',
  'RECIPIENT_RATE_LIMITED',
  'STATUSES_DAILY_CAP_REACHED',
  'admitted',
];

test('in any sequence every verdict, code, second, cap and count is the oracle’s, also after restarts', (context) => {
  const seen = new Map<string, number>();
  const runs = propertyRuns(context, 2_000);
  fc.assert(
    fc.property(steps, (sequence) => {
      const shop = new ShopModel();
      for (const step of sequence) step(shop);
      for (const [code, count] of shop.seen) seen.set(code, (seen.get(code) ?? 0) + count);
    }),
    runs,
  );
  context.diagnostic(`answers compared: ${JSON.stringify(Object.fromEntries([...seen].sort()))}`);
  if (runs.numRuns >= 1_000) assert.deepEqual([...seen.keys()].sort(), everyAnswer, 'every rule had its say');
});
