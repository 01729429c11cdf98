/** Steps the shop's two machines, and carries out what they decide about sessions and messages. */
import { endNewChat } from '../../../../policy/network-limits.ts';
import { isGroupId } from '../../../../policy/recipient.ts';
import type { Turn } from '../../../../runtime/behaviour.ts';
import { finalStatus } from '../../../message-status.ts';
import type { ChannelEffect, ChannelEvent } from '../../machines/channel-events.ts';
import type { PacingEffect, PacingEvent, Settlement } from '../../machines/pacing-machine.ts';
import { channelStepper, pacingStepper } from '../../machines/shop-machines.ts';
import type { MachineStep } from '../../machines/transition-table.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import { QUEUED_LIMIT_MS } from '../../records/message-record.ts';
import { batchObstacle } from '../../state/batch-holds.ts';
import {
  byAge,
  channelState,
  isIdle,
  liveGroups,
  pacingState,
  type QueuedMessage,
  type ShopState,
} from '../../state/shop-state.ts';
import { countSent } from '../../state/undelivered.ts';
import type { TurnBuilder } from './turn-builder.ts';

/** Steps the channel machine, and carries out its effects. */
export function stepChannel(builder: TurnBuilder, event: ChannelEvent): void {
  const stateBefore = channelState(builder.state);
  const { snapshot, effects, step } = channelStepper.step(builder.state.channel, event);
  builder.change({ channel: snapshot });
  const stateAfter = channelState(builder.state);
  note(builder, step);
  if (stateAfter !== 'qr_waiting') builder.change({ qr: undefined });
  if (stateAfter !== 'code_waiting') builder.change({ pairingCode: undefined });
  // Groups are kept while the session reconnects. A message to one is accepted, and checked again when the session is
  // back.
  if (['qr_waiting', 'code_waiting', 'disconnected'].includes(stateAfter))
    builder.change({ groups: undefined });
  if (stateBefore === 'connected' && stateAfter !== 'connected') stepPacing(builder, { type: 'put_back' });
  for (const effect of effects) applyChannel(builder, effect);
}

/** Steps the pacing machine, and carries out its effects. */
export function stepPacing(builder: TurnBuilder, event: PacingEvent): void {
  const { snapshot, effects, step } = pacingStepper.step(builder.state.pacing, event);
  builder.change({ pacing: snapshot });
  note(builder, step);
  for (const effect of effects) applyPacing(builder, effect);
}

/**
 * Starts the next message if the shop is idle. Returns the finished turn: state, writes, effects, and the reply to the
 * command, if it has one.
 */
export function finishTurn(builder: TurnBuilder, reply?: unknown): Turn<ShopState, ShopEffect> {
  startNext(builder);
  return builder.asTurn(reply);
}

/**
 * Ends the messages that have waited too long, and starts the oldest one that may leave. A message to a group waits
 * until a new session reports its groups, and delays no other message: the report may take long. A message that its
 * batch keeps back waits too.
 */
function startNext(builder: TurnBuilder): void {
  if (builder.state.queue.length === 0 || !isIdle(builder.state)) return;
  // Their timer may be late.
  builder.endOverdue();
  const { queue, batches } = builder.state;
  const groups = liveGroups(builder.state);
  const next = queue.find(
    (message) =>
      (groups !== undefined || !isGroupId(message.to)) &&
      batchObstacle(batches, message, builder.nowMs) !== 'wait',
  );
  if (next === undefined) return;
  builder.change({ queue: queue.filter((queuedMessage) => queuedMessage !== next), currentMessage: next });
  const { messageId, kind, to, createdAtMs } = next;
  const { preparingMs } = builder.options.times;
  // No message stays queued for longer than its limit, and until it is on the wire it counts as queued.
  const untilMs = Math.min(builder.nowMs + preparingMs, createdAtMs + QUEUED_LIMIT_MS);
  stepPacing(builder, { type: 'dispatch', message: { messageId, kind, to }, untilMs });
}

function applyChannel(builder: TurnBuilder, effect: ChannelEffect): void {
  switch (effect.type) {
    case 'open_session': {
      const { inbound, egress } = builder.state;
      const opening = inbound === 'none' ? effect.params : { ...effect.params, inbound };
      const openingWithEgress = egress === undefined ? opening : { ...opening, egress: egress.sealed };
      builder.perform({ type: 'open', opening: openingWithEgress });
      break;
    }
    case 'close_session':
      builder.perform({ type: 'close' });
      break;
    case 'erase_session':
      builder.perform({ type: 'erase' });
      break;
    case 'lose_session':
      builder.endAllQueued('MSGAPP_SESSION_LOST');
      break;
  }
}

function applyPacing(builder: TurnBuilder, effect: PacingEffect): void {
  const { currentMessage } = builder.state;
  switch (effect.type) {
    case 'first_look':
    case 'recall':
      builder.perform({ type: effect.type, messageId: effect.params.messageId });
      break;
    case 'store_sending':
      if (currentMessage === undefined) throw new Error('pacing stores a message that is not current');
      builder.storeState(currentMessage, 'sending', null);
      break;
    case 'settle':
      settle(builder, currentMessage, effect.params);
      break;
    case 'put_back':
      if (currentMessage !== undefined) putBack(builder, currentMessage);
      break;
  }
}

/** Ends the message in progress. If it starts a chat, that is counted now. An attempt that never left uses no quota. */
function settle(
  builder: TurnBuilder,
  message: QueuedMessage | undefined,
  { newChat, reason }: Settlement,
): void {
  const { limits } = builder.state;
  if (newChat !== undefined && limits.newChats !== null)
    builder.change({ limits: { ...limits, newChats: endNewChat(limits.newChats, newChat) } });
  // Not found when the shop was loaded: its retention is over, or it was ended outside of the actor.
  if (message === undefined) return;
  builder.change({ currentMessage: undefined, currentBody: undefined });
  // A sent message counts until a recipient's receipt arrives.
  if (reason === null && message.kind !== 'status' && message.carriedFor === undefined)
    builder.change({ undelivered: countSent(builder.state.undelivered, builder.nowMs) });
  builder.storeState(message, finalStatus(reason), reason);
}

/**
 * Puts the message back into the queue, in the order of acceptance. If the session is lost permanently, it ends
 * instead. A `sending` message is queued again.
 */
function putBack(builder: TurnBuilder, message: QueuedMessage): void {
  builder.change({
    queue: byAge([message, ...builder.state.queue]),
    currentMessage: undefined,
    currentBody: undefined,
  });
  if (builder.state.channel.context.flagged) builder.endQueued(message, 'MSGAPP_SESSION_LOST');
  else if (pacingState(builder.before) === 'sending') builder.storeState(message, 'queued', null);
}

/** Notes a step for operators. */
function note(builder: TurnBuilder, step: MachineStep | undefined): void {
  if (step === undefined || step.from === step.to) return;
  const { transitions } = builder.state;
  builder.onCommitted(() => transitions.note(step, builder.nowMs));
}
