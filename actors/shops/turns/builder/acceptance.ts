import type { LedgerEntry } from '../../../../policy/ledger-entry.ts';
import type { Write } from '../../../../runtime/store.ts';
import type { ChannelCode } from '../../../failure.ts';
import { bodyWrite, dayExpiry, dayOf, dayOfMessage, firstIdOfDay } from '../../records/message-days.ts';
import type { MessageBody } from '../../records/message-record.ts';
import { idempotencyKey } from '../../records/shop-keys.ts';
import { encodeAccepted, nextCutMs, overdueElements } from '../../state/accepted-list.ts';
import { channelState, isResuming, queuedMessage, type ShopState } from '../../state/shop-state.ts';
import type { TurnBuilder } from './turn-builder.ts';

/**
 * Returns the reason why a shop's channel can take no message now, or undefined if it can (docs/contract.md, Channel
 * availability).
 */
export function channelRefusal(state: ShopState, available: boolean): ChannelCode | undefined {
  if (state.channel.context.flagged) return 'MSGAPP_SESSION_LOST';
  if (channelState(state) !== 'connected' && !isResuming(state)) return 'MSGAPP_NOT_CONNECTED';
  return available ? undefined : 'BOT_SERVICE_UNREACHABLE';
}

/** Accepts a message or status: stored, queued and counted in one commit. */
export function enqueue(builder: TurnBuilder, message: AcceptedMessage): void {
  const place = storeAccepted(builder, message);
  const queued = queuedMessage(message.body, place, message.alias);
  // A spread would reserve memory for half as many elements more. `concat` takes three times as long with a value that
  // is not an array.
  builder.change({ queue: builder.state.queue.concat([queued]) });
}

/** The message to store at acceptance. */
export interface AcceptedMessage {
  readonly body: MessageBody;
  readonly entry: LedgerEntry;
  /** The number by which the network knows the recipient, if the caller wrote another. */
  readonly alias?: string | undefined;
  readonly retentionMs: number;
}

/** Stores and counts an accepted message. Returns its position in the shop's list. */
export function storeAccepted(builder: TurnBuilder, { body, entry, retentionMs }: AcceptedMessage): number {
  const { acceptedList, shard } = builder.state;
  const day = dayOfMessage(body.id);
  const place = countSend(builder, entry, { id: body.id, write: bodyWrite(shard, day, body) });
  if (day !== acceptedList.expiringDay) storeExpiry(builder, day, retentionMs);
  if (body.idempotencyKey !== null) {
    const key = idempotencyKey(shard, body, body.idempotencyKey);
    builder.write(['SET', key, body.id, 'PXAT', body.createdAtMs + retentionMs]);
  }
  builder.perform({
    type: 'announce_message',
    of: builder.state,
    messageId: body.id,
    status: 'queued',
    reason: null,
    ageMs: 0,
  });
  return place;
}

/** Has the messages of a day expire: once a day and actor. */
function storeExpiry(builder: TurnBuilder, day: number, retentionMs: number): void {
  const { acceptedList, shard } = builder.state;
  builder.write(dayExpiry(shard, day, retentionMs));
  builder.onCommitted(() => {
    acceptedList.expiringDay = day;
  });
}

/**
 * Counts a send in the shop's list, in the commit of its turn, and returns its position. `own` is a message of the shop
 * itself, which is stored before.
 */
export function countSend(
  builder: TurnBuilder,
  entry: LedgerEntry,
  own?: { readonly id: string; readonly write: Write },
): number {
  const { keys, ledger, acceptedList } = builder.state;
  const element: Write = ['RPUSH', keys.accepted, encodeAccepted(own?.id, entry)];
  if (own === undefined) builder.write(element);
  else builder.write(own.write, element);
  builder.onCommitted(() => {
    ledger.record(entry);
    acceptedList.next += 1;
  });
  return acceptedList.next;
}

/** The daily time at which the shop's list is cut has come. */
export function orderCut(builder: TurnBuilder): void {
  const { acceptedList, shop } = builder.state;
  builder.perform({ type: 'cut_accepted' });
  builder.onCommitted(() => {
    acceptedList.cutDueAtMs = nextCutMs(shop.shopId, builder.nowMs);
  });
}

/**
 * Cuts old elements from the shop's list and from the indexes of failed messages. Messages expire by themselves.
 * `oldest` is the head of the list.
 */
export function cutAccepted(builder: TurnBuilder, oldest: readonly string[], retentionMs: number): void {
  const { keys, acceptedList } = builder.state;
  const overdue = overdueElements(oldest, { retentionMs, nowMs: builder.nowMs });
  if (overdue > 0) {
    builder.write(['LTRIM', keys.accepted, overdue, -1]);
    builder.onCommitted(() => {
      acceptedList.cut += overdue;
    });
    builder.storeSettled(overdue);
  }
  const before = `(${firstIdOfDay(dayOf(builder.nowMs - retentionMs))}`;
  for (const key of [keys.failed, keys.rejected]) builder.write(['ZREMRANGEBYLEX', key, '-', before]);
}
