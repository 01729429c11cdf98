/** Cancelling messages at the pool while the shop moves to another node, or the pool does not answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { done } from '../../../../actors/failure.ts';
import { cancelMatching, cancelOne } from '../../../../actors/shops/operations/cancelling.ts';
import type { Actors } from '../../../../runtime/actors.ts';
import { movedAwayFailure } from '../../../../runtime/runtime-failure.ts';

const SHOP = { tenantId: '66b1f0a2c3d4e5f607182901', shopId: '66b1f0a2c3d4e5f607182902' };
const POOL = { tenantId: '66b1f0a2c3d4e5f607182903', shopId: '66b1f0a2c3d4e5f607182904' };
const AT_POOL = [{ messageId: '66b1f0a2c3d4e5f607182905', createdAtMs: 1, pool: POOL }];
const FILTER = { idempotencyKeyPrefix: undefined, to: undefined, acceptedBeforeMs: undefined };

/** The shop takes these commands one after the other, and then is no longer here. The pool answers, or does not. */
function optionsOf(taken: readonly string[], { isAnswered = true } = {}) {
  const expected = [...taken];
  const ask = async (_: unknown, { type }: { type: string }): Promise<unknown> => {
    if (expected.shift() !== type) throw movedAwayFailure();
    return done({ ended: 3, atPool: AT_POOL });
  };
  const takeBackCancelled = async () => (isAnswered ? ({ kind: 'cancelled' } as never) : undefined);
  return { actors: { ask: ask as Actors['ask'] }, poolClient: { takeBackCancelled } };
}

test('messages of the queue were cancelled, and those at the pool cannot be: not said to be undone', async () => {
  await assert.rejects(cancelMatching(optionsOf(['cancel_queue']), SHOP, FILTER), {
    code: 'OUTCOME_UNKNOWN',
  });
});

test('the pool gave a message back, and its shop is not told: not said to be undone', async () => {
  const { messageId } = AT_POOL[0] ?? { messageId: '' };
  await assert.rejects(cancelOne(optionsOf(['cancel']), SHOP, messageId), { code: 'OUTCOME_UNKNOWN' });
});

test('a message was taken back, and the shop cannot say where it is now: not said to be undone', async () => {
  const { messageId } = AT_POOL[0] ?? { messageId: '' };
  await assert.rejects(cancelOne(optionsOf(['cancel', 'pool.answered']), SHOP, messageId), {
    code: 'OUTCOME_UNKNOWN',
  });
});

test('the pool does not answer, and may have ended the message: not said to be undone, and not counted', async () => {
  const { messageId } = AT_POOL[0] ?? { messageId: '' };
  const unanswered = { isAnswered: false };
  await assert.rejects(cancelOne(optionsOf(['cancel'], unanswered), SHOP, messageId), {
    code: 'OUTCOME_UNKNOWN',
  });
  const cancelled = await cancelMatching(optionsOf(['cancel_queue', 'cancel'], unanswered), SHOP, FILTER);
  assert.deepEqual(cancelled, done({ cancelled: 3 }));
});

test('the message is still at the pool after each try: not said to be undone', async () => {
  const { messageId } = AT_POOL[0] ?? { messageId: '' };
  const tries = ['cancel', 'pool.answered', 'cancel', 'pool.answered', 'cancel', 'pool.answered'];
  await assert.rejects(cancelOne(optionsOf(tries), SHOP, messageId), { code: 'OUTCOME_UNKNOWN' });
});

test('nothing was done: another owner may be asked', async () => {
  await assert.rejects(cancelMatching(optionsOf([]), SHOP, FILTER), { code: 'SHARD_NOT_OWNED' });
});
