import { endNewChat } from '../../../../policy/network-limits.ts';
import { isGroupId } from '../../../../policy/recipient.ts';
import type { Turn } from '../../../../runtime/behaviour.ts';
import { finalStatus, type MessageReason, type MessageStatus } from '../../../message-status.ts';
import { waitingEnd } from '../../judging/waiting-limits.ts';
import type { ChannelEffect, ChannelEvent } from '../../machines/channel-events.ts';
import type { PacingEffect, PacingEvent, Settlement } from '../../machines/pacing-machine.ts';
import { channel, pacing } from '../../machines/shop-machines.ts';
import type { MachineStep } from '../../machines/transition-table.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import type { MessageState } from '../../records/message-record.ts';
import { batchObstacle } from '../../state/batch-holds.ts';
import { withMessageState } from '../../state/batches.ts';
import { changeWrites } from '../../state/change-writes.ts';
import {
  byAge,
  channelState,
  endedBefore,
  isIdle,
  liveGroups,
  pacingState,
  type QueuedMessage,
  type ShopState,
} from '../../state/shop-state.ts';
import { countSent } from '../../state/undelivered.ts';
import { CollectedTurn } from './collected-turn.ts';
import { type MessageReference, messageOutcome } from './message-outcome.ts';
import { announcementsBetween } from './shop-events.ts';

/** One turn while it is built. It steps the shop's two machines, and carries out what they decide about messages. */
export class TurnBuilder extends CollectedTurn {
  /** True if this turn stores how far the shop's messages have ended. */
  #storesEnded = false;
  /** Elements that this turn cuts from the list of messages. */
  #cut = 0;

  stepChannel(event: ChannelEvent): void {
    const stateBefore = channelState(this.state);
    const { snapshot, effects, step } = channel.step(this.state.channel, event);
    this.change({ channel: snapshot });
    const stateAfter = channelState(this.state);
    this.#note(step);
    if (stateAfter !== 'qr_waiting') this.change({ qr: undefined });
    if (stateAfter !== 'code_waiting') this.change({ pairingCode: undefined });
    // Groups are kept while the session reconnects. A message to one is accepted, and checked again when the session is
    // back.
    if (['qr_waiting', 'code_waiting', 'disconnected'].includes(stateAfter))
      this.change({ groups: undefined });
    if (stateBefore === 'connected' && stateAfter !== 'connected') this.stepPacing({ type: 'put_back' });
    for (const effect of effects) this.#applyChannel(effect);
  }

  stepPacing(event: PacingEvent): void {
    const { snapshot, effects, step } = pacing.step(this.state.pacing, event);
    this.change({ pacing: snapshot });
    this.#note(step);
    for (const effect of effects) this.#applyPacing(effect);
  }

  /**
   * Starts the oldest message of the queue that may leave. A message to a group waits until a new session reports its
   * groups, and delays no other message: the report may take long. A message that its batch keeps back waits too.
   */
  dispatch(): void {
    const { queue, batches } = this.state;
    if (queue.length === 0 || !isIdle(this.state)) return;
    const groups = liveGroups(this.state);
    const next = queue.find(
      (message) =>
        (groups !== undefined || !isGroupId(message.to)) &&
        batchObstacle(batches, message, this.nowMs) !== 'wait',
    );
    if (next === undefined) return;
    this.change({ queue: queue.filter((queuedMessage) => queuedMessage !== next), currentMessage: next });
    const { messageId, kind, to } = next;
    const untilMs = this.nowMs + this.options.times.preparingMs;
    this.stepPacing({ type: 'dispatch', hand: { messageId, kind, to }, untilMs });
  }

  /** Ends a waiting message that was never in progress. */
  endQueued(message: QueuedMessage, reason: MessageReason): void {
    this.change({ queue: this.state.queue.filter((queuedMessage) => queuedMessage !== message) });
    this.#storeState(message, finalStatus(reason), reason);
  }

  endAllQueued(reason: MessageReason): void {
    for (const message of this.state.queue) this.endQueued(message, reason);
  }

  /** Fails messages that have waited too long. */
  endOverdue(): void {
    for (const message of this.state.queue) {
      const { atMs, reason } = waitingEnd(this.state, message);
      if (atMs > this.nowMs) return;
      this.endQueued(message, reason);
    }
  }

  /**
   * Starts the next message if the shop is idle. Returns the finished turn: state, writes, effects, and the reply to the
   * command, if it has one.
   */
  finish(reply?: unknown): Turn<ShopState, ShopEffect> {
    this.dispatch();
    const { before, state } = this;
    const firstPlace = this.#storesEnded ? this.#noteEnded() : undefined;
    const writes = changeWrites(before, state, { nowMs: this.nowMs, ended: firstPlace });
    if (writes.length > 0) this.write(...writes);
    const announcements = announcementsBetween(before, state);
    if (announcements.length > 0) this.perform(...announcements);
    return this.collected(reply);
  }

  /** Makes the turn store how far the shop's messages have ended, less the elements cut from the head of the list. */
  storeEnded(cut = 0): void {
    this.#storesEnded = true;
    this.#cut += cut;
  }

  /** Returns how many elements of the new list belong to ended messages, with none before them. */
  #noteEnded(): number {
    const { acceptedList } = this.state;
    const firstPlace = endedBefore(this.state);
    this.onCommitted(() => {
      acceptedList.ended = firstPlace;
    });
    return Math.max(0, firstPlace - acceptedList.cut - this.#cut);
  }

  #applyChannel(effect: ChannelEffect): void {
    if (effect.type === 'open_session') {
      const { inbound, egress } = this.state;
      const opening = inbound === 'none' ? effect.params : { ...effect.params, inbound };
      const openingWithEgress = egress === undefined ? opening : { ...opening, egress: egress.sealed };
      this.perform({ type: 'open', opening: openingWithEgress });
    } else if (effect.type === 'close_session') {
      this.perform({ type: 'close' });
    } else if (effect.type === 'erase_session') {
      this.perform({ type: 'erase' });
    } else {
      this.endAllQueued('MSGAPP_SESSION_LOST');
    }
  }

  #applyPacing(effect: PacingEffect): void {
    const { currentMessage } = this.state;
    switch (effect.type) {
      case 'first_look':
        this.perform({ type: 'first_look', messageId: effect.params.messageId });
        break;
      case 'recall':
        this.perform({ type: 'recall', messageId: effect.params.messageId });
        break;
      case 'store_sending':
        if (currentMessage === undefined) throw new Error('pacing stores a message that is not current');
        this.#storeState(currentMessage, 'sending', null);
        break;
      case 'settle':
        this.#countNewChat(effect.params);
        // Not found when the shop was loaded: its retention is over, or it was ended outside of the actor.
        if (currentMessage === undefined) break;
        this.change({ currentMessage: undefined, currentBody: undefined });
        this.#noteSent(currentMessage, effect.params.reason);
        this.#storeState(currentMessage, finalStatus(effect.params.reason), effect.params.reason);
        break;
      case 'put_back':
        this.#putBack(currentMessage);
        break;
    }
  }

  /**
   * Puts the message back at the head of the queue, after older ones that came from elsewhere meanwhile. It does not do
   * so if the session is lost permanently. A `sending` message is queued again.
   */
  #putBack(currentMessage: QueuedMessage | undefined): void {
    if (currentMessage === undefined) return;
    this.change({
      queue: byAge([currentMessage, ...this.state.queue]),
      currentMessage: undefined,
      currentBody: undefined,
    });
    if (this.state.channel.context.flagged) this.endQueued(currentMessage, 'MSGAPP_SESSION_LOST');
    else if (pacingState(this.before) === 'sending') this.#storeState(currentMessage, 'queued', null);
  }

  store(message: MessageReference, state: MessageState): void {
    const { writes, effects, event } = messageOutcome(this.state, message, state);
    this.write(...writes);
    this.perform(...effects);
    if (event === undefined) return;
    this.storeEnded();
    if (message.batchId !== undefined) {
      this.change({ batches: withMessageState(this.state.batches, message, state) });
      const outcome = state.status as 'sent' | 'failed' | 'rejected';
      this.perform({ type: 'count_recipients', outcome, code: state.reason, count: 1 });
    }
    this.publishEvent(event);
  }

  #storeState(message: MessageReference, status: MessageStatus, reason: MessageReason | null): void {
    const sentAtMs = status === 'sent' ? this.nowMs : null;
    this.store(message, { status, reason, updatedAtMs: this.nowMs, sentAtMs });
  }

  /** Counts a message that starts a chat, once its outcome is known. An attempt that never left uses no quota. */
  #countNewChat({ newChat }: Settlement): void {
    const { limits } = this.state;
    if (newChat !== undefined && limits.newChats !== null)
      this.change({ limits: { ...limits, newChats: endNewChat(limits.newChats, newChat) } });
  }

  /** Counts a sent message until a recipient's receipt arrives. */
  #noteSent({ kind, carriedFor }: QueuedMessage, reason: MessageReason | null): void {
    if (finalStatus(reason) !== 'sent' || kind === 'status' || carriedFor !== undefined) return;
    this.change({ undelivered: countSent(this.state.undelivered, this.nowMs) });
  }

  #note(step: MachineStep | undefined): void {
    if (step === undefined || step.from === step.to) return;
    const { transitions } = this.state;
    this.onCommitted(() => transitions.note(step, this.nowMs));
  }
}
