import type { Actors } from '../../../runtime/actors.ts';
import { afterCommand } from '../../../runtime/after-command.ts';
import { partsOf } from '../../../runtime/parts.ts';
import { outcomeUnknownFailure } from '../../../runtime/runtime-failure.ts';
import { done, failed, type Outcome, renamedFailure } from '../../failure.ts';
import type { PoolClient } from '../pool-link/pool-client.ts';
import type { MessageAtPool } from '../protocol/shop-replies.ts';
import { shopAddress } from '../records/shop-keys.ts';
import type { QueueFilter, ShopOutcome, ShopReference } from '../shop-operations.ts';
import { askShop } from './ask-shop.ts';

interface CancellingOptions {
  readonly actors: Pick<Actors, 'ask'>;
  readonly poolClient: Pick<PoolClient, 'takeBackCancelled'>;
}

/**
 * Between two reads, a message may move from one pool shop to another. After this number of attempts the caller must
 * retry.
 */
const TRIES = 3;
/** Messages that are taken back from the pool at a time. */
const AT_A_TIME = 16;

type Cancellation = Outcome<true, 'MESSAGE_NOT_FOUND' | 'NOT_CANCELLABLE'>;

/**
 * Ends one message, wherever it waits. Its record then has the end. Rejects with `OUTCOME_UNKNOWN` if the pool does not
 * answer, because it may have ended the message.
 */
export async function cancelOne(
  options: CancellingOptions,
  shop: ShopReference,
  messageId: string,
): Promise<Cancellation> {
  const cancellation = await tryToCancel(options, shop, messageId);
  if (cancellation === undefined) throw outcomeUnknownFailure('the pool did not give the message back');
  return cancellation;
}

/** Like `cancelOne`, but resolves with undefined if the pool does not answer. `tries`: of asking the shop, at most. */
async function tryToCancel(
  options: CancellingOptions,
  shop: ShopReference,
  messageId: string,
  tries = TRIES,
): Promise<Cancellation | undefined> {
  if (tries === 0) return undefined;
  const answer = await askShop(options.actors, shop, { type: 'cancel', messageId });
  // A shop that was erased has no messages.
  if (!answer.ok) return renamedFailure(answer, { from: 'SHOP_NOT_FOUND', to: 'MESSAGE_NOT_FOUND' });
  const [atPool] = answer.value.atPool;
  if (atPool === undefined) return done(true);
  const takenBack = await takeBack(options, shop, atPool);
  return takenBack?.ok ? afterCommand(() => tryToCancel(options, shop, messageId, tries - 1)) : takenBack;
}

/**
 * Ends all messages that match, and counts those that ended. Messages that the pool has sent meanwhile, or does not
 * reply for, do not count.
 */
export async function cancelMatching(
  options: CancellingOptions,
  shop: ShopReference,
  filter: QueueFilter,
): Promise<ShopOutcome<{ readonly cancelled: number }>> {
  const answer = await askShop(options.actors, shop, { type: 'cancel_queue', filter });
  if (!answer.ok) return answer;
  const { ended, atPool } = answer.value;
  return done({ cancelled: ended + (await afterCommand(() => cancelAtPool(options, shop, atPool))) });
}

/** Ends messages that wait at the pool, and counts those that ended. */
async function cancelAtPool(
  options: CancellingOptions,
  shop: ShopReference,
  messages: readonly MessageAtPool[],
): Promise<number> {
  let cancelled = 0;
  for (const part of partsOf(messages, AT_A_TIME)) {
    const cancellations = await Promise.all(
      part.map(({ messageId }) => tryToCancel(options, shop, messageId)),
    );
    cancelled += cancellations.filter((cancellation) => cancellation?.ok).length;
  }
  return cancelled;
}

/**
 * Asks the pool shop for the message, and reports the answer to its own shop. Resolves with undefined without an
 * answer.
 */
async function takeBack(
  { actors, poolClient }: CancellingOptions,
  shop: ShopReference,
  { messageId, createdAtMs, pool: carrier }: MessageAtPool,
): Promise<Outcome<true, 'NOT_CANCELLABLE'> | undefined> {
  const answer = await poolClient.takeBackCancelled({ messageId, createdAtMs, pool: carrier });
  if (answer === undefined) return undefined;
  if (answer.kind === 'taken') return failed('NOT_CANCELLABLE');
  const answered = { type: 'pool.answered', messageId, pool: carrier, answer } as const;
  await afterCommand(() => actors.ask(shopAddress(shop), answered));
  return done(true);
}
