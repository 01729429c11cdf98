/** Handles other shops' messages in a shop of the pool. It paces and counts them like its own. */

import { evaluateMessage } from '../../../../policy/evaluate-message.ts';
import { encodeEntry } from '../../../../policy/ledger-entry.ts';
import { restrictionAt } from '../../../../policy/network-limits.ts';
import type { TenantSettings } from '../../../../policy/tenant-settings.ts';
import type { Evaluation } from '../../../../policy/verdict.ts';
import { finalStatus, isFinal } from '../../../message-status.ts';
import { channelRefusal } from '../../judging/channel-refusal.ts';
import { countsAsNewChat, limitsNow } from '../../judging/new-chats.ts';
import { warmupPairedAtMs } from '../../machines/channel-context.ts';
import { offerOf, type PoolOffer, type PoolReply, replyFromRecord } from '../../protocol/pool-protocol.ts';
import type { CommandOf } from '../../protocol/shop-commands.ts';
import type { ShopReplies } from '../../protocol/shop-replies.ts';
import type { WriterFacts } from '../../reading/recipient-facts.ts';
import { carriedKey, carriedWrites } from '../../records/carried-message.ts';
import { type MessageState, QUEUED_LIMIT_MS } from '../../records/message-record.ts';
import type { OfferedSend } from '../../state/offered-send.ts';
import { byAge, carriedEntry, channelState, pacingState, type ShopState } from '../../state/shop-state.ts';
import { countSend } from '../builder/enqueue.ts';
import { stepPacing } from '../builder/step-machines.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { giveBackCarried } from '../number/given-back.ts';
import { countNewChat, uncountNewChat } from '../number/reported-limits.ts';
import type { CarryFacts } from './carry-facts.ts';
import { otherOffers } from './offered-sends.ts';

const REFUSED = { kind: 'refused' } as const;

/**
 * Replies if this shop would take a message now. If so, the send counts against other offers for some seconds. A
 * message that was refused before is always refused.
 */
export function offerPooled(
  builder: TurnBuilder,
  command: CommandOf<'pool.offer'>,
  facts: CarryFacts,
): ShopReplies['pool.offer'] {
  const { state } = builder;
  const { offer, isPoolOpen, settings } = command;
  const isFree = isPoolOpen && facts.hasWorker && channelState(state) === 'connected' && state.isDispatching;
  if (facts.record !== undefined || !isFree || !canCarry(state, builder.nowMs)) return REFUSED;
  const evaluation = evaluate(builder, offer, { ...facts, settings });
  if (!evaluation.isAdmitted) return REFUSED;
  const { entry } = evaluation;
  const otherSends = otherOffers(state, entry, builder.nowMs);
  if (otherSends.length > 0 && !evaluate(builder, offer, { ...facts, settings }, otherSends).isAdmitted)
    return REFUSED;
  const startsChat = countsAsNewChat(offer.to, facts);
  builder.change({ offeredSends: [...otherSends, { entry, startsChat, offeredAtMs: builder.nowMs }] });
  return { kind: 'willing' };
}

/** Takes a message once, or returns its state. A refusal is permanent. */
export function takePooled(
  builder: TurnBuilder,
  command: CommandOf<'pool.take'>,
  facts: CarryFacts,
): PoolReply {
  const { body, isTaken, isPoolOpen, settings } = command;
  if (facts.record !== undefined) return replyFromRecord(facts.record);
  if (isTaken) return { kind: 'lost' };
  const { shard, keys, queue } = builder.state;
  // After this the record that prevents a second send may have expired.
  if (builder.nowMs >= body.createdAtMs + QUEUED_LIMIT_MS) return REFUSED;
  const evaluation = evaluate(builder, offerOf(body), { ...facts, settings });
  if (!isPoolOpen || !canCarry(builder.state, builder.nowMs) || !evaluation.isAdmitted) {
    builder.write(...carriedWrites(shard, body, 'refused', '1'));
    return REFUSED;
  }
  builder.write(
    ...carriedWrites(shard, body, 'body', JSON.stringify(body)),
    ['ZADD', keys.carried, 0, body.id],
    ['HSET', carriedKey(shard, body.id), 'entry', encodeEntry(evaluation.entry)],
  );
  countSend(builder, evaluation.entry);
  if (countsAsNewChat(body.to ?? '', facts)) countNewChat(builder);
  builder.change({
    queue: byAge([...queue, carriedEntry(body, facts.alias)]),
    offeredSends: otherOffers(builder.state, evaluation.entry, builder.nowMs),
  });
  return { kind: 'taken' };
}

/**
 * Takes a message back unless it is on the wire. An unknown one is stored as ended, so that a later `take` sends
 * nothing. A cancelled one gives back its counts, also as a new chat. After an opt-out it stays counted, as a rejected
 * one of the shop itself.
 */
export function withdrawPooled(
  builder: TurnBuilder,
  { messageId, createdAtMs, reason: withdrawalReason }: CommandOf<'pool.withdraw'>,
  { record, entryFromEnd, writer }: CarryFacts,
): PoolReply {
  const { shard, currentMessage, queue } = builder.state;
  const reason = withdrawalReason ?? 'RECIPIENT_OPTED_OUT';
  if (record?.state !== undefined && isFinal(record.state.status)) return replyFromRecord(record);
  const { nowMs } = builder;
  const state: MessageState = { status: finalStatus(reason), reason, updatedAtMs: nowMs, sentAtMs: null };
  const subject = { id: messageId, createdAtMs };
  const message = [currentMessage, ...queue].find((message) => message?.messageId === messageId);
  if (message === undefined) {
    builder.write(...carriedWrites(shard, subject, 'state', JSON.stringify(state)));
  } else if (message !== currentMessage) {
    builder.endQueued(message, reason);
  } else if (pacingState(builder.state) !== 'sending') {
    stepPacing(builder, { type: 'blocked', reason });
  } else {
    // The origin repeats its request after an opt-out. A message that comes back unsent before that waits here. Its
    // recipient did not opt out of this shop, so only the mark keeps it from the wire.
    if (reason !== 'CANCELLED') builder.write(...carriedWrites(shard, subject, 'withdrawn', '1'));
    return { kind: 'taken' };
  }
  if (reason === 'CANCELLED' && message !== undefined && entryFromEnd !== undefined) {
    const { to, alias } = message;
    const entryText = record?.entryText ?? '';
    giveBackCarried(builder, { to, alias, entryText, fromEnd: entryFromEnd });
    if (countsAsNewChat(to, { writer })) uncountNewChat(builder);
  }
  return { kind: 'ended', fate: state };
}

/** Returns the policy's evaluation of a message for another shop. `offeredSends` count as if they were accepted. */
function evaluate(
  { state, nowMs }: TurnBuilder,
  { to, text, mediaUrl, recipientClass }: PoolOffer,
  { settings, writer, alias }: WriterFacts & { readonly settings: TenantSettings },
  offeredSends: readonly OfferedSend[] = [],
): Evaluation {
  const { ledger } = state;
  const ledgerWithOffers =
    offeredSends.length === 0 ? ledger : ledger.with(offeredSends.map(({ entry }) => entry));
  return evaluateMessage(ledgerWithOffers, {
    recipient: alias ?? to,
    text,
    mediaUrl: mediaUrl ?? undefined,
    // The recipient's class comes from the origin; messages and opt-outs to this shop count as well.
    isCustomer: recipientClass === 'known',
    declaration: recipientClass === 'declared' ? { expiresAtMs: null, isRevoked: false } : null,
    lastInboundAtMs: writer?.lastInboundAtMs ?? null,
    hasOptedOut: writer?.optedOut ?? false,
    network: limitsNow(state, offeredSends.filter(({ startsChat }) => startsChat).length),
    pairedAtMs: warmupPairedAtMs(state.channel.context),
    settings,
    nowMs,
  });
}

/**
 * True if this shop's queue can send. It has a session, or one that reconnects by itself, as after a restart, and no
 * pause or restriction. Customers of the shops it carries for are strangers to its own number.
 */
function canCarry(state: ShopState, nowMs: number): boolean {
  const isHeld = state.pacing.context.heldByOperator || pacingState(state) === 'paused';
  return channelRefusal(state, true) === undefined && !isHeld && restrictionAt(state.limits, nowMs) === null;
}
