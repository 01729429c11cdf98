import { endNewChat } from '../../../../policy/network-limits.ts';
import { isGroupId } from '../../../../policy/recipient.ts';
import type { Turn } from '../../../../runtime/behaviour.ts';
import type { Random } from '../../../../runtime/random.ts';
import type { Write } from '../../../../runtime/store.ts';
import { finalStatus, isFinal, type MessageReason, type MessageStatus } from '../../../message-status.ts';
import type { MessageEventType, ShopEventData, ShopEventType } from '../../../replies/event-replies.ts';
import {
  type EventLimits,
  eventWrites,
  type InboundEventType,
  shopEvent,
  type TenantEvent,
} from '../../../tenants/tenant-event.ts';
import type { ChannelEffect, ChannelEvent } from '../../machines/channel-events.ts';
import type { PacingEffect, PacingEvent, Settlement } from '../../machines/pacing-machine.ts';
import { channel, pacing } from '../../machines/shop-machines.ts';
import type { MachineStep } from '../../machines/transition-table.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import type { ShopReplies } from '../../protocol/shop-replies.ts';
import type { MessageState } from '../../records/message-record.ts';
import { batchObstacle } from '../../state/batch-holds.ts';
import { withMessageState } from '../../state/batches.ts';
import { changeWrites } from '../../state/change-writes.ts';
import {
  byAge,
  changedShop,
  channelState,
  isIdle,
  liveGroups,
  pacingState,
  type QueuedMessage,
  type ShopState,
  settledPlace,
} from '../../state/shop-state.ts';
import { countSent } from '../../state/undelivered.ts';
import { type MessageReference, messageOutcome } from './message-outcome.ts';
import { announcementsBetween, eventsBetween } from './shop-events.ts';

/** The times and random spread of pacing; milliseconds. */
export interface PacingTimes {
  /** The gap between two sends is uniform between these (docs/contract.md, Enforced in the sending component). */
  readonly sendGap: { readonly minMs: number; readonly maxMs: number };
  /** The pause after a rate signal (docs/contract.md, Enforced in the sending component). */
  readonly pauseMs: number;
  /**
   * After this long a message that is not prepared is put back. Longer than the session's own deadlines for that.
   */
  readonly preparingMs: number;
  /**
   * After this long without an outcome, a send counts as unknown. Longer than the session's own deadline.
   */
  readonly outcomeMs: number;
}

/** Moments that the pacing machine may need. */
export interface Moments {
  readonly gapUntilMs: number;
  readonly pauseUntilMs: number;
  readonly pausedForMs: number;
}

/** The times and limits of turns. */
export interface ShopTurnOptions {
  readonly random: Random;
  readonly times: PacingTimes;
  /** The limits of the tenant's events. */
  readonly eventLimits: EventLimits;
}

const NO_WRITES: readonly Write[] = [];
const NO_EFFECTS: readonly ShopEffect[] = [];
const NO_EVENTS: readonly TenantEvent[] = [];

/**
 * One turn while it is built. It takes a shop's state, steps its two machines, and collects their writes and effects
 * into a `Turn`. The original state is never changed.
 */
export class TurnBuilder {
  #writes: readonly Write[] = NO_WRITES;
  #effects: readonly ShopEffect[] = NO_EFFECTS;
  readonly nowMs: number;
  #state: ShopState;
  readonly #before: ShopState;
  readonly #options: ShopTurnOptions;
  #committed: (() => void) | undefined;
  /** True if this turn stores how far the shop's messages have ended. */
  #storesSettled = false;
  /** Elements that this turn cuts from the list of messages. */
  #cut = 0;
  /** The tenant's events, in the order of their decisions. */
  #events: readonly TenantEvent[] = NO_EVENTS;

  constructor(state: ShopState, nowMs: number, options: ShopTurnOptions) {
    this.#state = state;
    this.#before = state;
    this.nowMs = nowMs;
    this.#options = options;
  }

  get state(): ShopState {
    return this.#state;
  }

  change(changes: Partial<ShopState>): void {
    this.#state = changedShop(this.#state, changes);
  }

  /**
   * Adds writes, in their order. The first array becomes the list itself, because a push reserves memory for seventeen
   * elements and most turns write two.
   */
  write(...writes: readonly Write[]): void {
    this.#writes = this.#writes.length === 0 ? writes : this.#writes.concat(writes);
  }

  /** Adds effects to carry out once the commit succeeds, in their order. */
  perform(...effects: readonly ShopEffect[]): void {
    this.#effects = this.#effects.length === 0 ? effects : this.#effects.concat(effects);
  }

  /** Runs an action once the commit succeeds, for data that is changed in place. Several actions run in their order. */
  onCommitted(action: () => void): void {
    this.#committed = this.#committed === undefined ? action : inOrder(this.#committed, action);
  }

  chance(): number {
    return this.#options.random();
  }

  /** Draws the random times that the pacing machine may need. A pause lasts at least `backoffMs`. */
  moments(backoffMs = 0): Moments {
    const { sendGap, pauseMs } = this.#options.times;
    const { minMs, maxMs } = sendGap;
    const pausedForMs = Math.max(pauseMs, backoffMs);
    return {
      gapUntilMs: this.nowMs + Math.round(minMs + (maxMs - minMs) * this.chance()),
      pauseUntilMs: this.nowMs + pausedForMs,
      pausedForMs,
    };
  }

  stepChannel(event: ChannelEvent): void {
    const from = channelState(this.#state);
    const { snapshot, effects, step } = channel.step(this.#state.channel, event);
    this.change({ channel: snapshot });
    const to = channelState(this.#state);
    this.#note(step);
    if (to !== 'qr_waiting') this.change({ qr: undefined });
    if (to !== 'code_waiting') this.change({ pairingCode: undefined });
    // Groups are kept while the session reconnects. A message to one is accepted, and checked again when the session is
    // back.
    if (['qr_waiting', 'code_waiting', 'disconnected'].includes(to)) this.change({ groups: undefined });
    if (from === 'connected' && to !== 'connected') this.stepPacing({ type: 'put_back' });
    for (const effect of effects) this.#carryChannel(effect);
  }

  stepPacing(event: PacingEvent): void {
    const { snapshot, effects, step } = pacing.step(this.#state.pacing, event);
    this.change({ pacing: snapshot });
    this.#note(step);
    for (const effect of effects) this.#carryPacing(effect);
  }

  /**
   * Starts the oldest message of the queue that may leave. A message to a group waits until a new session reports its
   * groups, and delays no other message: the report may take long. A message that its batch keeps back waits too.
   */
  dispatch(): void {
    const { queue, batches } = this.#state;
    if (queue.length === 0 || !isIdle(this.#state)) return;
    const groups = liveGroups(this.#state);
    const next = queue.find(
      (message) =>
        (groups !== undefined || !isGroupId(message.to)) &&
        batchObstacle(batches, message, this.nowMs) !== 'wait',
    );
    if (next === undefined) return;
    this.change({ queue: queue.filter((other) => other !== next), currentMessage: next });
    const { messageId, kind, to } = next;
    const untilMs = this.nowMs + this.#options.times.preparingMs;
    this.stepPacing({ type: 'dispatch', hand: { messageId, kind, to }, untilMs });
  }

  /** Ends a waiting message that was never in progress. */
  endQueued(message: QueuedMessage, reason: MessageReason): void {
    this.change({ queue: this.#state.queue.filter((other) => other !== message) });
    this.#storeState(message, finalStatus(reason), reason);
  }

  endAllQueued(reason: MessageReason): void {
    for (const message of this.#state.queue) this.endQueued(message, reason);
  }

  /** Returns the finished turn: state, writes, effects, and the reply to a command of the type. */
  finish<Type extends keyof ShopReplies = never>(reply?: ShopReplies[Type]): Turn<ShopState, ShopEffect> {
    this.dispatch();
    const before = this.#before;
    const state = this.#state;
    const settled = this.#storesSettled ? this.#noteSettled() : undefined;
    const writes = changeWrites(before, state, { nowMs: this.nowMs, settled });
    if (writes.length > 0) this.write(...writes);
    const announcements = announcementsBetween(before, state);
    if (announcements.length > 0) this.perform(...announcements);
    this.#storeEvents();
    return { state, writes: this.#writes, effects: this.#effects, reply, committed: this.#committed };
  }

  /** Makes the turn store how far the shop's messages have ended, less the elements cut from the head of the list. */
  storeSettled(cut = 0): void {
    this.#storesSettled = true;
    this.#cut += cut;
  }

  /** Returns how many elements of the new list belong to ended messages, with none before them. */
  #noteSettled(): number {
    const { acceptedList } = this.#state;
    const settled = settledPlace(this.#state);
    this.onCommitted(() => {
      acceptedList.settled = settled;
    });
    return Math.max(0, settled - acceptedList.cut - this.#cut);
  }

  /** Publishes an event about a message, sent or inbound, once this turn's commit succeeds. */
  publishMessage(type: MessageEventType | InboundEventType, messageId: string): void {
    this.#events = [...this.#events, { type, shopId: this.#state.shop.shopId, subject: messageId }];
  }

  /** Publishes an event about the shop itself. */
  publish<Type extends ShopEventType>(type: Type, data: ShopEventData<Type>): void {
    this.#events = [...this.#events, shopEvent(type, this.#state.shop.shopId, data)];
  }

  #storeEvents(): void {
    const changes = eventsBetween(this.#before, this.#state);
    if (this.#events.length === 0 && changes.length === 0) return;
    const events = [...this.#events, ...changes];
    const kept = { nowMs: this.nowMs, limits: this.#options.eventLimits };
    this.write(...eventWrites(this.#state.shop.tenantId, events, kept));
    this.perform({ type: 'announce_events' });
  }

  #carryChannel(effect: ChannelEffect): void {
    if (effect.type === 'open_session') {
      const { inbound, egress } = this.#state;
      const opening = inbound === 'none' ? effect.params : { ...effect.params, inbound };
      const by = egress === undefined ? opening : { ...opening, egress: egress.sealed };
      this.perform({ type: 'open', opening: by });
    } else if (effect.type === 'close_session') {
      this.perform({ type: 'close' });
    } else if (effect.type === 'erase_session') {
      this.perform({ type: 'erase' });
    } else {
      this.endAllQueued('MSGAPP_SESSION_LOST');
    }
  }

  #carryPacing(effect: PacingEffect): void {
    const { currentMessage } = this.#state;
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
   * Puts the message back at the head of the queue, after older ones that came from elsewhere meanwhile, unless the
   * session is lost permanently. A `sending` message is queued again.
   */
  #putBack(currentMessage: QueuedMessage | undefined): void {
    if (currentMessage === undefined) return;
    this.change({
      queue: byAge([currentMessage, ...this.#state.queue]),
      currentMessage: undefined,
      currentBody: undefined,
    });
    if (this.#state.channel.context.flagged) this.endQueued(currentMessage, 'MSGAPP_SESSION_LOST');
    else if (pacingState(this.#before) === 'sending') this.#storeState(currentMessage, 'queued', null);
  }

  /** Stores the state of a message. */
  store(message: MessageReference, state: MessageState): void {
    const { writes, effects } = messageOutcome(this.#state, message, state);
    this.write(...writes);
    this.perform(...effects);
    // The shop that owns a carried message publishes its end.
    if (message.carriedFor !== undefined || !isFinal(state.status)) return;
    this.storeSettled();
    if (message.batchId !== undefined) {
      this.change({ batches: withMessageState(this.#state.batches, message, state) });
      const outcome = state.status as 'sent' | 'failed' | 'rejected';
      this.perform({ type: 'count_recipients', outcome, code: state.reason, count: 1 });
    }
    this.publishMessage(`message.${state.status}`, message.messageId);
  }

  #storeState(message: MessageReference, status: MessageStatus, reason: MessageReason | null): void {
    const sentAtMs = status === 'sent' ? this.nowMs : null;
    this.store(message, { status, reason, updatedAtMs: this.nowMs, sentAtMs });
  }

  /** Counts a message that starts a chat, once its outcome is known. An attempt that never left uses no quota. */
  #countNewChat({ newChat }: Settlement): void {
    const { limits } = this.#state;
    if (newChat !== undefined && limits.newChats !== null)
      this.change({ limits: { ...limits, newChats: endNewChat(limits.newChats, newChat) } });
  }

  /** Counts a sent message until a recipient's receipt arrives. */
  #noteSent({ kind, carriedFor }: QueuedMessage, reason: MessageReason | null): void {
    if (finalStatus(reason) !== 'sent' || kind === 'status' || carriedFor !== undefined) return;
    this.change({ undelivered: countSent(this.#state.undelivered, this.nowMs) });
  }

  #note(step: MachineStep | undefined): void {
    if (step === undefined || step.from === step.to) return;
    const { transitions } = this.#state;
    this.onCommitted(() => transitions.note(step, this.nowMs));
  }
}

function inOrder(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
