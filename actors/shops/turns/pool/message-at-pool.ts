/**
 * The life of a message that goes through the pool, at the shop that owns it.
 *
 * | State    | What it means                                      | Leaves on                                          |
 * |----------|----------------------------------------------------|----------------------------------------------------|
 * | asked    | a pool shop is asked to take it, until it answers  | taken → taken, refused → unplaced, ended → its end |
 * | taken    | it has it; it is asked for the state now and then  | ended → its end, lost → failed DELIVERY_UNKNOWN    |
 * | unplaced | a free pool shop is looked for                     | found → asked, own session open → own queue,       |
 * |          |                                                    | 10 minutes → MSGAPP_NOT_CONNECTED                  |
 *
 * Another pool shop is asked, or the message enters the origin's queue, only after all pool shops that were asked have
 * refused permanently. So never two shops send it. A pool shop that does not answer may have sent the message. If its
 * end is still unknown after 24 hours and one more request, the message fails with DELIVERY_UNKNOWN.
 */

import type { MessageReason } from '../../../message-status.ts';
import { countsAsNewChat } from '../../judging/new-chats.ts';
import { NO_SESSION_LIMIT_MS } from '../../judging/waiting-limits.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import { bodyWrite, dayOfMessage } from '../../records/message-days.ts';
import { QUEUED_LIMIT_MS } from '../../records/message-record.ts';
import type { ShopReference } from '../../shop-operations.ts';
import { encodePooled, type PooledMessage } from '../../state/pooled-message.ts';
import { byAge, channelState, queueEntry, type ShopState } from '../../state/shop-state.ts';
import { type AcceptedMessage, storeAccepted } from '../builder/enqueue.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type CancelledPlace, giveBack } from '../number/given-back.ts';
import { countNewChat } from '../number/reported-limits.ts';
import type { RequeueFacts } from './requeue-facts.ts';

/** Interval of requests to a pool shop that has not replied, and of searches for one. */
const ASK_AGAIN_MS = 2_000;
/**
 * Interval of requests about a message that a pool shop took. The pool shop reports the end itself, unless that report
 * is lost.
 */
const ASK_ABOUT_TAKEN_MS = 10_000;

/** Accepts a message for a pool shop that agreed to send it. The message stays out of the shop's own queue. */
export function enqueueAtPool(builder: TurnBuilder, message: AcceptedMessage, pool: ShopReference): void {
  const place = storeAccepted(builder, message);
  const { id: messageId, to, createdAtMs } = message.body;
  const askAtMs = builder.nowMs + ASK_AGAIN_MS;
  putPooled(builder, { messageId, to: to ?? '', createdAtMs, place, pool, isTaken: false, askAtMs });
  builder.perform({ type: 'ask_pool', messageId, pool, isTaken: false });
}

/** Returns the time of the next request about a message at the pool. */
export function poolDueAtMs({ pooled }: Pick<ShopState, 'pooled'>): number | undefined {
  return pooled.length === 0 ? undefined : Math.min(...pooled.map(({ askAtMs }) => askAtMs));
}

/**
 * When a message at the pool ends without an answer until then, and the reason. The pool shop has 24 hours itself, and
 * there is time for one more request.
 */
export function pooledEnd({ pool, createdAtMs }: Pick<PooledMessage, 'pool' | 'createdAtMs'>): {
  readonly atMs: number;
  readonly reason: MessageReason;
} {
  if (pool === null) return { atMs: createdAtMs + NO_SESSION_LIMIT_MS, reason: 'MSGAPP_NOT_CONNECTED' };
  return { atMs: createdAtMs + QUEUED_LIMIT_MS + ASK_ABOUT_TAKEN_MS, reason: 'DELIVERY_UNKNOWN' };
}

/** Repeats the requests about all due messages, and ends the ones that waited too long. */
export function askPoolAgain(builder: TurnBuilder): void {
  for (const message of builder.state.pooled) {
    if (message.askAtMs > builder.nowMs) continue;
    const { messageId, pool, isTaken } = message;
    const { atMs, reason } = pooledEnd(message);
    if (atMs <= builder.nowMs && !isForOwnQueue(builder.state, message)) {
      failPooled(builder, message, reason);
      continue;
    }
    postpone(builder, message, isTaken ? ASK_ABOUT_TAKEN_MS : ASK_AGAIN_MS);
    if (pool === null) search(builder, message);
    else builder.perform({ type: 'ask_pool', messageId, pool, isTaken });
  }
}

/**
 * After an opt-out, requests the state of all messages at the pool at once. The pool withdraws those to that person
 * that are not on the wire. All are checked, because a person may be written to under several numbers.
 */
export function askAboutPooled(builder: TurnBuilder): void {
  for (const message of builder.state.pooled) postpone(builder, message, 0);
}

/** A pool shop agreed to send a message that another one refused. */
export function onPoolFound(builder: TurnBuilder, { messageId, pool }: CommandOf<'pool.found'>): void {
  const message = pooledMessage(builder, messageId);
  if (message === undefined || message.pool !== null) return;
  putPooled(builder, { ...message, pool, askAtMs: builder.nowMs + ASK_AGAIN_MS });
  builder.perform({ type: 'ask_pool', messageId, pool, isTaken: false });
}

/** The facts for the turn on a pool shop's reply: those about a message that was cancelled there. */
export interface AnswerFacts {
  readonly cancelled?: CancelledPlace | undefined;
}

/** Handles a pool shop's reply about a message. A reply from another shop than the last one asked is ignored. */
export function onPoolAnswered(
  builder: TurnBuilder,
  { messageId, pool, answer }: CommandOf<'pool.answered'>,
  { cancelled }: AnswerFacts,
): void {
  const message = pooledMessage(builder, messageId);
  if (message === undefined || message.pool?.shopId !== pool?.shopId) return;
  switch (answer.kind) {
    case 'taken':
      if (!message.isTaken)
        putPooled(builder, { ...message, isTaken: true, askAtMs: builder.nowMs + ASK_ABOUT_TAKEN_MS });
      break;
    case 'refused':
      if (message.isTaken) return;
      putPooled(builder, { ...message, pool: null, askAtMs: builder.nowMs + ASK_AGAIN_MS });
      search(builder, { ...message, pool: null });
      break;
    case 'ended':
      drop(builder, message);
      builder.store(message, { ...answer.fate, updatedAtMs: builder.nowMs });
      if (cancelled !== undefined) giveBack(builder, cancelled);
      break;
    case 'lost':
      failPooled(builder, message, 'DELIVERY_UNKNOWN');
      break;
  }
}

/**
 * Puts a message that no pool shop has taken into the origin's queue, in one commit, if its session is still open. It
 * was counted when it was accepted. From now on it is like a message that never was at the pool.
 */
export function requeue(
  builder: TurnBuilder,
  { messageId }: CommandOf<'requeue'>,
  { body, writer, alias }: RequeueFacts,
): void {
  const { shard, queue } = builder.state;
  const message = pooledMessage(builder, messageId);
  if (message === undefined || !isForOwnQueue(builder.state, message)) return;
  if (body === undefined) {
    failPooled(builder, message, 'EXPIRED');
    return;
  }
  drop(builder, message);
  builder.write(bodyWrite(shard, dayOfMessage(messageId), { ...body, via: 'shop' }));
  builder.change({ queue: byAge([...queue, queueEntry(body, message.place, alias)]) });
  if (countsAsNewChat(body.to ?? '', { writer })) countNewChat(builder);
  // A pool shop may refuse after a day. The message is then too old to be sent, also if the shop starts none now.
  builder.endOverdue();
}

/** Fails a message that was at the pool. */
export function failPooled(builder: TurnBuilder, message: PooledMessage, reason: MessageReason): void {
  drop(builder, message);
  builder.storeState(message, 'failed', reason);
}

/** True if no pool shop has the message, and the origin's session is open. */
function isForOwnQueue(state: ShopState, { pool }: PooledMessage): boolean {
  return pool === null && channelState(state) === 'connected';
}

/** Puts the message into the origin's queue if its session is open. Otherwise looks for another pool shop. */
function search(builder: TurnBuilder, message: PooledMessage): void {
  const type = isForOwnQueue(builder.state, message) ? 'requeue' : 'find_pool';
  builder.perform({ type, messageId: message.messageId });
}

function pooledMessage({ state }: TurnBuilder, messageId: string): PooledMessage | undefined {
  return state.pooled.find((message) => message.messageId === messageId);
}

function putPooled(builder: TurnBuilder, message: PooledMessage): void {
  const { pooled, keys } = builder.state;
  const { messageId } = message;
  const known = pooledMessage(builder, messageId);
  builder.change({
    pooled: known ? pooled.map((other) => (other === known ? message : other)) : [...pooled, message],
  });
  builder.write(['HSET', keys.pooled, messageId, encodePooled(message)]);
}

/** The time of the next request is not stored, so this writes nothing. */
function postpone(builder: TurnBuilder, message: PooledMessage, waitMs: number): void {
  const askAtMs = builder.nowMs + waitMs;
  const { pooled } = builder.state;
  builder.change({ pooled: pooled.map((other) => (other === message ? { ...message, askAtMs } : other)) });
}

function drop(builder: TurnBuilder, message: PooledMessage): void {
  const { pooled, keys } = builder.state;
  builder.change({ pooled: pooled.filter(({ messageId }) => messageId !== message.messageId) });
  builder.write(['HDEL', keys.pooled, message.messageId]);
}
