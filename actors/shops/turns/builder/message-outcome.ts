import type { Write } from '../../../../runtime/store.ts';
import { isFinal } from '../../../message-status.ts';
import { carriedWrites, dropContent } from '../../state/carried-message.ts';
import { stateWrite } from '../../state/message-days.ts';
import type { MessageState } from '../../state/message-record.ts';
import type { QueuedMessage, ShopState } from '../../state/shop-state.ts';
import type { ShopEffect } from './shop-commands.ts';

/** What must be known of a message to store what became of it. */
export type MessageReference = Pick<QueuedMessage, 'messageId' | 'createdAtMs' | 'carriedFor' | 'batchId'>;

/** What there is to write and to do when a message's state changes: its own record, or the origin is told. */
export function messageOutcome(
  shop: Pick<ShopState, 'keys' | 'shard' | 'shop' | 'name'>,
  message: MessageReference,
  state: MessageState,
): { readonly writes: Write[]; readonly effects: ShopEffect[] } {
  const { keys, shard } = shop;
  const { messageId, createdAtMs, carriedFor: origin } = message;
  const { status, reason } = state;
  const ended = isFinal(status);
  const ageMs = origin === undefined ? state.updatedAtMs - createdAtMs : null;
  const effects: ShopEffect[] = [{ type: 'announce_message', of: shop, messageId, status, reason, ageMs }];
  if (origin === undefined) {
    const writes: Write[] = [stateWrite(shard, messageId, state)];
    if (status === 'failed' || status === 'rejected') writes.push(['ZADD', keys[status], 0, messageId]);
    return { writes, effects };
  }
  const writes = carriedWrites(shard, { id: messageId, createdAtMs }, 'state', JSON.stringify(state));
  if (ended) {
    writes.push(['ZREM', keys.carried, messageId], dropContent(shard, messageId));
    effects.push({ type: 'note_end', origin, messageId, answer: { kind: 'ended', fate: state } });
  }
  return { writes, effects };
}
