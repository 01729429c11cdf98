/**
 * Not every step of pacing is stored. Whatever happens to a shop, its process may end at any time. Then the next one
 * gets from the store the same result as from all memory.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SendOutcome } from '../../../../actors/sessions/session-events.ts';
import { endedBefore, pacingState } from '../../../../actors/shops/state/shop-state.ts';
import { propertyRuns } from '../../../testbed/property-runs.ts';
import { ShopHarness } from '../shop-harness.ts';

type Step =
  | { readonly kind: 'send' | 'firstLook' | 'prepared' | 'pause' | 'resume' | 'drop' | 'up' }
  | { readonly kind: 'unprepared' | 'outcome'; readonly outcome: SendOutcome }
  | { readonly kind: 'pass'; readonly ms: number };

const steps = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Step>({ kind: 'send' }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Step[]>(
      { kind: 'unprepared', outcome: { kind: 'not_on_network' } },
      { kind: 'unprepared', outcome: { kind: 'not_sent' } },
      { kind: 'unprepared', outcome: { kind: 'unprepared' } },
      { kind: 'unprepared', outcome: { kind: 'rate_limited' } },
    ),
  },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'firstLook' }) },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'prepared' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step[]>(
      { kind: 'outcome', outcome: { kind: 'acknowledged' } },
      { kind: 'outcome', outcome: { kind: 'rate_limited' } },
      { kind: 'outcome', outcome: { kind: 'not_sent' } },
      { kind: 'outcome', outcome: { kind: 'unprepared' } },
      { kind: 'outcome', outcome: { kind: 'unknown' } },
      { kind: 'outcome', outcome: { kind: 'refused', code: '463' } },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(1, 6_000, 20_000, 900_000).map((ms): Step => ({ kind: 'pass', ms })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Step[]>(
      { kind: 'pause' },
      { kind: 'resume' },
      { kind: 'drop' },
      { kind: 'up' },
    ),
  },
);

function take(shop: ShopHarness, step: Step, number: number): void {
  const messageId = shop.state.currentMessage?.messageId ?? '';
  switch (step.kind) {
    case 'send':
      shop.send(`+3360000${String(1_000 + number)}`, `text ${number}`);
      break;
    case 'firstLook':
      shop.passFirstLook(messageId);
      break;
    case 'prepared':
      shop.reportPrepared(messageId, []);
      break;
    case 'unprepared':
      if (pacingState(shop.state) === 'preparing') shop.outcome(messageId, step.outcome);
      break;
    case 'outcome':
      // Reports of the network about a message count only in this state.
      if (pacingState(shop.state) === 'sending') shop.outcome(messageId, step.outcome);
      break;
    case 'pass':
      shop.pass(step.ms);
      break;
    case 'drop':
      shop.session({ type: 'session.closed', end: 'transient', statusCode: 428, detail: 'dropped' });
      break;
    case 'up':
      shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
      break;
    default:
      shop.command({ type: step.kind });
  }
}

async function afterRestart(shop: ShopHarness, from: 'memory' | 'store') {
  const { state, messages, effects } = await shop.successor(from);
  return {
    channel: { value: state.channel.value, context: state.channel.context },
    pacing: { value: state.pacing.value, context: state.pacing.context },
    queue: state.queue.map(({ messageId }) => messageId),
    currentMessage: state.currentMessage?.messageId,
    counted: state.ledger.size,
    listed: state.acceptedList.next,
    ended: endedBefore(state),
    statuses: [...messages],
    // The session of the process before is gone, so that there is nothing to recall. Each cuts its list at a time of
    // the day.
    effects: effects.map(({ type }) => type).filter((type) => !/^(announce|recall|cut)/.test(type)),
  };
}

test('another process continues alike from the store and from memory', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40, size: 'max' }), async (history) => {
      const shop = await ShopHarness.connected();
      for (const [number, step] of history.entries()) {
        take(shop, step, number);
        assert.deepEqual(
          await afterRestart(shop, 'store'),
          await afterRestart(shop, 'memory'),
          `after ${JSON.stringify(history.slice(0, number + 1))}`,
        );
      }
    }),
    propertyRuns(context, 200),
  );
});
