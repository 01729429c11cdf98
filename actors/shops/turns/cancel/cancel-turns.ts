/**
 * Ends messages that a caller cancels. A message that is not being sent ends at once. For a message at the pool the
 * pool shop decides, since only that shop knows if it is on the wire.
 */
import { done, failed } from '../../../failure.ts';
import type { CancelReply, MessageAtPool, ShopReplies } from '../../protocol/shop-replies.ts';
import type { PooledMessage } from '../../state/pooled-message.ts';
import { pacingState } from '../../state/shop-state.ts';
import { stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type CancelledPlace, giveBack } from '../number/given-back.ts';
import { failPooled } from '../pool/message-at-pool.ts';
import type { CancelFacts } from './cancel-facts.ts';

/** Ends one message. Fails with NOT_CANCELLABLE if it is being sent, or has ended otherwise. */
export function cancelMessage(
  builder: TurnBuilder,
  _command: unknown,
  { places, stored }: CancelFacts,
): ShopReplies['cancel'] {
  const cancelled = endAll(builder, places);
  if (cancelled.ended > 0 || cancelled.atPool.length > 0) return done(cancelled);
  return stored?.reason === 'CANCELLED' ? done(cancelled) : failed('NOT_CANCELLABLE');
}

/** Ends all messages that were found to match, but for those that are being sent. */
export function cancelQueue(
  builder: TurnBuilder,
  _command: unknown,
  { places }: CancelFacts,
): ShopReplies['cancel_queue'] {
  return done(endAll(builder, places));
}

function endAll(builder: TurnBuilder, places: readonly CancelledPlace[]): CancelReply {
  const atPool: MessageAtPool[] = [];
  let endedCount = 0;
  for (const place of places) {
    const pooledMessage = builder.state.pooled.find(({ messageId }) => messageId === place.messageId);
    if (pooledMessage !== undefined && pooledMessage.pool !== null) {
      const { messageId, createdAtMs, pool } = pooledMessage;
      atPool.push({ messageId, createdAtMs, pool });
    } else if (end(builder, place.messageId, pooledMessage)) {
      giveBack(builder, place);
      endedCount += 1;
    }
  }
  return { ended: endedCount, atPool };
}

/** Ends a message that is with no shop of the pool. False: it is being sent, or not here. */
function end(builder: TurnBuilder, messageId: string, pooledMessage: PooledMessage | undefined): boolean {
  if (pooledMessage !== undefined) {
    failPooled(builder, pooledMessage, 'CANCELLED');
    return true;
  }
  const { currentMessage, queue } = builder.state;
  if (currentMessage?.messageId === messageId) {
    if (pacingState(builder.state) === 'sending') return false;
    stepPacing(builder, { type: 'blocked', reason: 'CANCELLED' });
    return true;
  }
  const queuedMessage = queue.find((message) => message.messageId === messageId);
  if (queuedMessage === undefined) return false;
  builder.endQueued(queuedMessage, 'CANCELLED');
  return true;
}
