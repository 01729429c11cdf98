import type { Turn } from '../../../../runtime/behaviour.ts';
import type { Random } from '../../../../runtime/random.ts';
import type { Write } from '../../../../runtime/store.ts';
import type { MessageEventType, ShopEventData, ShopEventType } from '../../../reply-schemas/event-schemas.ts';
import {
  type EventLimits,
  eventWrites,
  type InboundEventType,
  shopEvent,
  type TenantEvent,
} from '../../../tenants/stored-events/tenant-event.ts';
import type { PacingTimes } from '../../machines/pacing-times.ts';
import type { ShopEffect } from '../../protocol/shop-effect.ts';
import { changedShop, type ShopState } from '../../state/shop-state.ts';
import { eventsBetween } from './shop-events.ts';

/** The ends of the next gap, drawn at random, and of a pause. The pacing machine may need them. */
export interface DrawnEnds {
  readonly gapUntilMs: number;
  readonly pauseUntilMs: number;
  readonly pausedForMs: number;
}

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
 * The parts of one turn while they are collected: the state, the writes, the effects and the tenant's events. The
 * original state is never changed.
 */
export class CollectedTurn {
  #writes: readonly Write[] = NO_WRITES;
  #effects: readonly ShopEffect[] = NO_EFFECTS;
  readonly nowMs: number;
  #state: ShopState;
  /** The shop at the start of the turn. */
  protected readonly before: ShopState;
  protected readonly options: ShopTurnOptions;
  #committed: (() => void) | undefined;
  /** The tenant's events, in the order of their decisions. */
  #events: readonly TenantEvent[] = NO_EVENTS;

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

  /** Draws the random times that the pacing machine may need. A pause lasts at least `backoffMs`. */
  drawEnds(backoffMs = 0): DrawnEnds {
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

  #storeEvents(): void {
    const changes = eventsBetween(this.before, this.#state);
    if (this.#events.length === 0 && changes.length === 0) return;
    const events = [...this.#events, ...changes];
    const eventOptions = { nowMs: this.nowMs, limits: this.options.eventLimits };
    this.write(...eventWrites(this.#state.shop.tenantId, events, eventOptions));
    this.perform({ type: 'announce_events' });
  }

  /** Stores the events, and returns the turn with a reply. */
  protected collected(reply: unknown): Turn<ShopState, ShopEffect> {
    this.#storeEvents();
    return {
      state: this.#state,
      writes: this.#writes,
      effects: this.#effects,
      reply,
      committed: this.#committed,
    };
  }
}

function inOrder(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
