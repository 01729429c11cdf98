import { HOUR_MS } from '../../../policy/durations.ts';
import { encodeEntry, type LedgerEntry } from '../../../policy/ledger-entry.ts';
import { LEDGER_BOUND } from '../../../policy/send-ledger.ts';
import { type Failure, type FailureCode, failed } from '../../failure.ts';
import { bodyWrites, type MessageBody } from '../record/message-record.ts';
import { idempotencyKey } from '../record/shop-keys.ts';
import type { ShopReference } from '../record/shop-operations.ts';
import { channelState, queuedMessage, type ShopState } from '../record/shop-state.ts';
import { startPooled } from './relinquish-message.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** Why a shop's channel can take no message now; undefined when it can (docs/contract.md, Channel availability). */
export function channelRefusal(state: ShopState, available: boolean): FailureCode | undefined {
  if (state.channel.context.flagged) return 'MSGAPP_SESSION_LOST';
  if (channelState(state) !== 'connected' && !isResuming(state)) return 'MSGAPP_NOT_CONNECTED';
  return available ? undefined : 'BOT_SERVICE_UNREACHABLE';
}

/** A session that was there is on its way back. */
function isResuming(state: ShopState): boolean {
  const name = channelState(state);
  return (name === 'starting' || name === 'reconnecting') && state.channel.context.pairedAtMs !== null;
}

/** A policy's refusal as a failure of the actor. */
export function refused(refusal: Failure): ReturnType<typeof failed> {
  const { code, ...details } = refusal;
  return failed(code, details);
}

/** Accepts a message or status: stored, queued and counted in one commit. */
export function enqueue(builder: TurnBuilder, message: AcceptedMessage): void {
  storeAccepted(builder, message);
  builder.change({ queue: [...builder.state.queue, queuedMessage(message.body, message.alias)] });
}

/** The same for a message that a shop of the pool is to send: it stays out of the shop's own queue. */
export function enqueueAtPool(builder: TurnBuilder, message: AcceptedMessage, pool: ShopReference): void {
  storeAccepted(builder, message);
  const { id, to, createdAtMs } = message.body;
  startPooled(builder, { messageId: id, to: to ?? '', createdAtMs, pool });
}

/** What acceptance stores. */
interface AcceptedMessage {
  readonly body: MessageBody;
  readonly entry: LedgerEntry;
  /** The number the network knows its recipient by, where it told another one than the caller wrote. */
  readonly alias?: string | undefined;
  readonly retentionMs: number;
}

function storeAccepted(builder: TurnBuilder, { body, entry, retentionMs }: AcceptedMessage): void {
  const { keys, shard } = builder.state;
  builder.writes.push(
    ...bodyWrites(shard, body, retentionMs),
    ['ZADD', keys.messages, 0, body.id],
    ['ZADD', keys.queue, 0, body.id],
  );
  if (body.idempotencyKey !== null) {
    const key = idempotencyKey(shard, body.shopId, body.idempotencyKey);
    builder.writes.push(['SET', key, body.id, 'PXAT', body.createdAtMs + retentionMs]);
  }
  count(builder, entry, retentionMs);
  builder.effects.push({
    type: 'announce_message',
    of: builder.state,
    messageId: body.id,
    status: 'queued',
    reason: null,
  });
}

/**
 * Counts a send in the shop's ledger, with the commit of its turn. The first of each hour clears away what is
 * old.
 */
export function count(builder: TurnBuilder, entry: LedgerEntry, retentionMs: number): void {
  const { keys, ledger } = builder.state;
  builder.writes.push(['RPUSH', keys.ledger, encodeEntry(entry)]);
  if (hourOf(entry.atMs) !== hourOf(ledger.newestMs)) trim(builder, retentionMs);
  builder.onCommitted(() => ledger.record(entry));
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS);
}

/**
 * The ledger is cut to what may count. Messages expire by themselves; the indexes that name them are cut to
 * their age.
 */
function trim({ state, writes, nowMs }: TurnBuilder, retentionMs: number): void {
  const { keys } = state;
  writes.push(['LTRIM', keys.ledger, -LEDGER_BOUND, -1]);
  const oldestSeconds = Math.max(0, Math.floor((nowMs - retentionMs) / 1000));
  const before = `(${oldestSeconds.toString(16).padStart(8, '0')}`;
  for (const key of [keys.messages, keys.failed, keys.rejected]) {
    writes.push(['ZREMRANGEBYLEX', key, '-', before]);
  }
}
