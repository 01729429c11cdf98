import type { Write } from '../../../../runtime/store.ts';
import { isFinal } from '../../../message-status.ts';
import type { TenantEvent } from '../../../tenants/stored-events/tenant-event.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import { carriedWrites, dropContent } from '../../records/carried-message.ts';
import { stateWrite } from '../../records/message-days.ts';
import type { MessageState } from '../../records/message-record.ts';
import type { QueuedMessage, ShopState } from '../../state/shop-state.ts';

/** The facts of a message that are needed to store its outcome. */
export type MessageReference = Pick<QueuedMessage, 'messageId' | 'createdAtMs' | 'carriedFor' | 'batchId'>;

/**
 * Returns the writes and effects when a message's state changes. `event` tells the tenant of the end of the shop's own
 * message. The origin of a carried one is notified of its end, and publishes it.
 */
export function messageOutcome(
  shop: Pick<ShopState, 'keys' | 'shard' | 'shop' | 'name'>,
  message: MessageReference,
  state: MessageState,
): { readonly writes: Write[]; readonly effects: ShopEffect[]; readonly event: TenantEvent | undefined } {
  const { keys, shard } = shop;
  const { messageId, createdAtMs, carriedFor: origin } = message;
  const { status, reason } = state;
  const ageMs = origin === undefined ? state.updatedAtMs - createdAtMs : null;
  const effects: ShopEffect[] = [
    { type: 'announce_message', source: shop, messageId, status, reason, ageMs },
  ];
  if (origin === undefined) {
    const writes: Write[] = [stateWrite(shard, messageId, state)];
    if (status === 'failed' || status === 'rejected') writes.push(['ZADD', keys[status], 0, messageId]);
    const { shopId } = shop.shop;
    const event = isFinal(status)
      ? ({ type: `message.${status}`, shopId, subject: messageId } as const)
      : undefined;
    return { writes, effects, event };
  }
  const writes = carriedWrites(shard, { id: messageId, createdAtMs }, 'state', JSON.stringify(state));
  if (isFinal(status)) {
    writes.push(['ZREM', keys.carried, messageId], dropContent(shard, messageId));
    effects.push({ type: 'note_end', origin, messageId, answer: { kind: 'ended', fate: state } });
  }
  return { writes, effects, event: undefined };
}
