import type { Turn } from '../../../../runtime/behaviour.ts';
import type { Random } from '../../../../runtime/random.ts';
import type { Write } from '../../../../runtime/store.ts';
import { finalStatus, isFinal, type MessageReason, type MessageStatus } from '../../../message-status.ts';
import type { MessageEventType, ShopEventData, ShopEventType } from '../../../reply-schemas/event-schemas.ts';
import {
  type EventLimits,
  eventWrites,
  type InboundEventType,
  shopEvent,
  type TenantEvent,
} from '../../../tenants/stored-events/tenant-event.ts';
import { waitingEnd } from '../../judging/waiting-limits.ts';
import type { PacingTimes } from '../../machines/pacing-times.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import type { MessageState } from '../../records/message-record.ts';
import { withMessageState } from '../../state/batches.ts';
import { changeWrites } from '../../state/change-writes.ts';
import { changedShop, endedBefore, type QueuedMessage, type ShopState } from '../../state/shop-state.ts';
import { type MessageReference, messageOutcome } from './message-outcome.ts';
import { announcementsBetween, eventsBetween } from './shop-events.ts';

export interface ShopTurnOptions {
  readonly random: Random;
  /** Ids in order of making. */
  readonly makeId: (nowMs: number) => string;
  readonly times: PacingTimes;
  /** The limits of the tenant's events. */
  readonly eventLimits: EventLimits;
  /** How long messages and what belongs to them are stored. */
  readonly retentionMs: number;
}

const NO_WRITES: readonly Write[] = [];
const NO_EFFECTS: readonly ShopEffect[] = [];
const NO_EVENTS: readonly TenantEvent[] = [];

/**
 * The parts of one turn while they are collected: the state, the writes, the effects and the tenant's events. A change
 * makes a new state. Large tables of the state change in place, but only after the commit. `step-machines.ts` steps the
 * shop's machines, and finishes the turn.
 */
export class TurnBuilder {
  readonly nowMs: number;
  /** The shop at the start of the turn. */
  readonly before: ShopState;
  readonly options: ShopTurnOptions;
  #state: ShopState;
  #writes: readonly Write[] = NO_WRITES;
  #effects: readonly ShopEffect[] = NO_EFFECTS;
  /** The tenant's events, in the order of their decisions. */
  #events: readonly TenantEvent[] = NO_EVENTS;
  #committed: (() => void) | undefined;
  /** True if this turn stores how far the shop's messages have ended. */
  #storesEnded = false;
  /** Elements that this turn cuts from the list of messages. */
  #cut = 0;

  constructor(state: ShopState, nowMs: number, options: ShopTurnOptions) {
    this.#state = state;
    this.before = state;
    this.nowMs = nowMs;
    this.options = options;
  }

  get state(): ShopState {
    return this.#state;
  }

  get retentionMs(): number {
    return this.options.retentionMs;
  }

  change(changes: Partial<ShopState>): void {
    this.#state = changedShop(this.#state, changes);
  }

  /**
   * Adds writes, in their order. The first array becomes the list itself, because most turns write two
   * (docs/decisions/012-value-or-promise.md, Closures and arrays).
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
    return this.options.random();
  }

  makeId(): string {
    return this.options.makeId(this.nowMs);
  }

  /**
   * Returns the ends of the next gap and of the next pause, for the pacing machine. The length of the gap is drawn at
   * random. The pause takes `backoffMs`, but at least `pauseMs`.
   */
  waitEnds(backoffMs = 0) {
    const { sendGap, pauseMs } = this.options.times;
    const { minMs, maxMs } = sendGap;
    const pausedForMs = Math.max(pauseMs, backoffMs);
    return {
      gapUntilMs: this.nowMs + Math.round(minMs + (maxMs - minMs) * this.chance()),
      pauseUntilMs: this.nowMs + pausedForMs,
      pausedForMs,
    };
  }

  /** Publishes an event about a message, sent or inbound, once this turn's commit succeeds. */
  publishMessage(type: MessageEventType | InboundEventType, messageId: string): void {
    this.publishEvent({ type, shopId: this.#state.shop.shopId, subject: messageId });
  }

  /** Publishes an event about the shop itself. */
  publish<Type extends ShopEventType>(type: Type, data: ShopEventData<Type>): void {
    this.publishEvent(shopEvent(type, this.#state.shop.shopId, data));
  }

  publishEvent(event: TenantEvent): void {
    this.#events = [...this.#events, event];
  }

  /** Ends a message that waits in the queue. */
  endQueued(message: QueuedMessage, reason: MessageReason): void {
    this.change({ queue: this.#state.queue.filter((queuedMessage) => queuedMessage !== message) });
    this.storeState(message, finalStatus(reason), reason);
  }

  endAllQueued(reason: MessageReason): void {
    for (const message of this.#state.queue) this.endQueued(message, reason);
  }

  /** Fails messages that have waited too long. */
  endOverdue(): void {
    for (const message of this.#state.queue) {
      const { atMs, reason } = waitingEnd(this.#state, message);
      if (atMs > this.nowMs) return;
      this.endQueued(message, reason);
    }
  }

  store(message: MessageReference, state: MessageState): void {
    const { writes, effects, event } = messageOutcome(this.#state, message, state);
    this.write(...writes);
    this.perform(...effects);
    const { status, reason } = state;
    if (event === undefined || !isFinal(status)) return;
    this.storeEnded();
    if (message.batchId !== undefined) {
      this.change({ batches: withMessageState(this.#state.batches, message, state) });
      this.perform({ type: 'count_recipients', outcome: status, code: reason, count: 1 });
    }
    this.publishEvent(event);
  }

  storeState(message: MessageReference, status: MessageStatus, reason: MessageReason | null): void {
    const sentAtMs = status === 'sent' ? this.nowMs : null;
    this.store(message, { status, reason, updatedAtMs: this.nowMs, sentAtMs });
  }

  /**
   * Makes the turn store how many messages at the head of the list have ended. `cut` counts elements that it cuts
   * there.
   */
  storeEnded(cut = 0): void {
    this.#storesEnded = true;
    this.#cut += cut;
  }

  /** Returns the turn with the reply to the command, if it has one. Only `finishTurn` calls it. */
  asTurn(reply: unknown): Turn<ShopState, ShopEffect> {
    const { before } = this;
    const state = this.#state;
    const ended = this.#storesEnded ? this.#noteEnded() : undefined;
    const writes = changeWrites(before, state, { nowMs: this.nowMs, ended });
    if (writes.length > 0) this.write(...writes);
    const announcements = announcementsBetween(before, state);
    if (announcements.length > 0) this.perform(...announcements);
    this.#storeEvents();
    return { state, writes: this.#writes, effects: this.#effects, reply, committed: this.#committed };
  }

  /**
   * Returns how many elements at the head of the list belong to ended messages, once this turn has cut it. Notes their
   * end in the list after the commit.
   */
  #noteEnded(): number {
    const { acceptedList } = this.#state;
    const endedPlace = endedBefore(this.#state);
    this.onCommitted(() => {
      acceptedList.ended = endedPlace;
    });
    return Math.max(0, endedPlace - acceptedList.cut - this.#cut);
  }

  #storeEvents(): void {
    const changes = eventsBetween(this.before, this.#state);
    if (this.#events.length === 0 && changes.length === 0) return;
    const events = [...this.#events, ...changes];
    const eventOptions = { nowMs: this.nowMs, limits: this.options.eventLimits };
    this.write(...eventWrites(this.#state.shop.tenantId, events, eventOptions));
    this.perform({ type: 'announce_events' });
  }
}

function inOrder(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
