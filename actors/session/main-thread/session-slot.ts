import type { Clock } from '../../../runtime/clock.ts';
import type { SendOutcome, SessionAddress } from '../session-host.ts';

/** How a session stands, as far as the main thread was told. */
type SeatState = 'opening' | 'qr' | 'open' | 'ended';

/** An order that has its outcome now, with the session it was given to. */
export interface SettledOrder {
  readonly messageId: string;
  readonly generation: number;
  readonly outcome: SendOutcome;
}

/**
 * What the main thread knows of one shop's session: where it runs, how it stands, and which orders have no outcome
 * yet. Each order is settled once, by the worker's word or, when the worker is gone, from what it had said before.
 */
export class SessionSlot {
  readonly shop: SessionAddress;
  /** Place of its worker in the pool; kept, so that a session comes back where its caches are. */
  worker: number | undefined;
  generation: number;
  /** Told to end; what it says still counts, what is asked of it is answered by the main thread. */
  closing = false;
  readonly #clock: Clock;
  /** Sends without outcome, and whether each may have reached the wire. */
  readonly #orders = new Map<string, { released: boolean; readonly generation: number }>();
  readonly #counts = { sent: 0, refused: 0, unknown: 0, received: 0 };
  #state: SeatState = 'opening';
  #stateSinceMs: number;

  constructor(options: {
    readonly shop: SessionAddress;
    readonly generation: number;
    readonly clock: Clock;
  }) {
    this.shop = options.shop;
    this.generation = options.generation;
    this.#clock = options.clock;
    this.#stateSinceMs = options.clock.wallMs();
  }

  get state(): SeatState {
    return this.#state;
  }

  enter(state: SeatState): void {
    this.#state = state;
    this.#stateSinceMs = this.#clock.wallMs();
  }

  received(): void {
    this.#counts.received += 1;
  }

  /** An order is on its way to the worker. */
  take(messageId: string): void {
    if (this.#orders.get(messageId)?.released) return;
    this.#orders.set(messageId, { released: false, generation: this.generation });
  }

  /** The order never got to a worker. */
  takeBack(messageId: string): void {
    this.#orders.delete(messageId);
  }

  /** From here on the message may reach the network; false: the order has its outcome already. */
  release(messageId: string): boolean {
    const order = this.#orders.get(messageId);
    if (order !== undefined) order.released = true;
    return order !== undefined;
  }

  /** Whether that order still waited; it does no more. */
  settle(messageId: string, outcome: SendOutcome): boolean {
    if (!this.#orders.delete(messageId)) return false;
    if (outcome.kind === 'acknowledged') this.#counts.sent += 1;
    else if (outcome.kind === 'unknown' || outcome.kind === 'restarted') this.#counts.unknown += 1;
    else if (outcome.kind === 'refused') this.#counts.refused += 1;
    return true;
  }

  /** The worker is gone: what was not released never left it, and is safe to give again. */
  settleAll(): SettledOrder[] {
    return [...this.#orders].map(([messageId, { released, generation }]) => {
      const outcome: SendOutcome = { kind: released ? 'restarted' : 'unprepared' };
      this.settle(messageId, outcome);
      return { messageId, generation, outcome };
    });
  }

  /** For operators; no secrets. */
  describe(): Record<string, unknown> {
    return {
      worker: this.worker ?? null,
      generation: this.generation,
      state: this.#state,
      stateSince: new Date(this.#stateSinceMs).toISOString(),
      ordersInHand: this.#orders.size,
      ...this.#counts,
    };
  }
}
