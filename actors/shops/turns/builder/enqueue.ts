import type { LedgerEntry } from '../../../../policy/ledger-entry.ts';
import type { Write } from '../../../../runtime/store.ts';
import { bodyWrite, dayExpiry, dayOfMessage } from '../../records/message-days.ts';
import type { MessageBody } from '../../records/message-record.ts';
import { idempotencyRedisKey } from '../../records/shop-keys.ts';
import { encodeAccepted } from '../../state/accepted-list.ts';
import { queueEntry } from '../../state/shop-state.ts';
import { oncePerDay } from './once-per-day.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** Accepts a message or status: stored, queued and counted in one commit. */
export function enqueue(builder: TurnBuilder, message: AcceptedMessage): void {
  const place = storeAccepted(builder, message);
  const entry = queueEntry(message.body, place, message.alias);
  // A spread would reserve memory for half as many elements more. `concat` takes three times as long with a value that
  // is not an array.
  builder.change({ queue: builder.state.queue.concat([entry]) });
}

/** The message to store at acceptance. */
export interface AcceptedMessage {
  readonly body: MessageBody;
  readonly ledgerEntry: LedgerEntry;
  /** The number by which the network knows the recipient, if the caller wrote another. */
  readonly alias?: string | undefined;
}

/** Stores and counts an accepted message. Returns its position in the shop's list. */
export function storeAccepted(builder: TurnBuilder, { body, ledgerEntry }: AcceptedMessage): number {
  const { shard } = builder.state;
  const day = dayOfMessage(body.id);
  const place = countSend(builder, ledgerEntry, { id: body.id, write: bodyWrite(shard, day, body) });
  if (oncePerDay(builder, 'expiringDay', day)) builder.write(dayExpiry(shard, day, builder.retentionMs));
  if (body.idempotencyKey !== null) {
    const key = idempotencyRedisKey(shard, body, body.idempotencyKey);
    builder.write(['SET', key, body.id, 'PXAT', body.createdAtMs + builder.retentionMs]);
  }
  builder.perform({
    type: 'announce_message',
    source: builder.state,
    messageId: body.id,
    status: 'queued',
    reason: null,
    ageMs: 0,
  });
  return place;
}

/**
 * Counts a send in the shop's list, in the commit of its turn, and returns its position. `ownRecord` is a message of
 * the shop itself, which is stored before.
 */
export function countSend(
  builder: TurnBuilder,
  ledgerEntry: LedgerEntry,
  ownRecord?: { readonly id: string; readonly write: Write },
): number {
  const { keys, acceptedList } = builder.state;
  const element: Write = ['RPUSH', keys.accepted, encodeAccepted(ownRecord?.id, ledgerEntry)];
  if (ownRecord === undefined) builder.write(element);
  else builder.write(ownRecord.write, element);
  builder.onCommitted(() => {
    // The turn may have made another ledger since.
    builder.state.ledger.record(ledgerEntry);
    acceptedList.next += 1;
  });
  return acceptedList.next;
}
