import type { SendOutcome } from '../../../actors/sessions/session-events.ts';
import type { SendOrder, SessionAddress } from '../../../actors/sessions/session-host.ts';
import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';

/** An order until its outcome. */
interface PendingOrder {
  readonly order: SendOrder;
  /** Runs until the outcome. Undefined if the order is not transmitted. */
  readonly timer: ArmedTimer | undefined;
}

/**
 * One session in memory, with its state and the work that waits for it. After its end only its open orders are settled.
 */
export class MemorySession {
  readonly address: SessionAddress;
  readonly generation: number;
  state: 'opening' | 'qr' | 'code' | 'open' = 'opening';
  readonly #clock: Clock;
  readonly #settled: (session: MemorySession, messageId: string, outcome: SendOutcome) => void;
  // One or none as a rule, for which a map or set takes ten times the memory.
  #orders: readonly PendingOrder[] = NONE;
  #timers: readonly ArmedTimer[] = NONE;
  /** The writers that wait for a receipt. */
  #writers: readonly { readonly token: string; readonly answer: (receipt: boolean) => void }[] = NONE;

  constructor(options: {
    readonly address: SessionAddress;
    readonly generation: number;
    readonly clock: Clock;
    /** Called with each order's outcome, once. */
    readonly settled: (session: MemorySession, messageId: string, outcome: SendOutcome) => void;
  }) {
    this.address = options.address;
    this.generation = options.generation;
    this.#clock = options.clock;
    this.#settled = options.settled;
  }

  get pendingOrders(): number {
    return this.#orders.length;
  }

  /** Acts after a while, unless the session has ended. */
  later(delayMs: number, act: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers = this.#timers.filter((otherTimer) => otherTimer !== timer);
      act();
    });
    this.#timers = [...this.#timers, timer];
  }

  /** Takes an order that is not transmitted yet. */
  hold(order: SendOrder): void {
    this.#put({ order, timer: undefined });
  }

  /** The order, while it is not transmitted. */
  held(messageId: string): SendOrder | undefined {
    return this.#orders.find(({ order, timer }) => order.messageId === messageId && timer === undefined)
      ?.order;
  }

  /** An order that was not transmitted comes to this outcome. */
  giveUp(messageId: string, outcome: SendOutcome): void {
    if (this.held(messageId) !== undefined) this.#settle(messageId, outcome);
  }

  /** An order that was not transmitted is given up, and nothing is reported. */
  recall(messageId: string): void {
    if (this.held(messageId) !== undefined) this.#orders = this.#without(messageId);
  }

  /** Takes an order that gets this outcome after a while. */
  take(order: SendOrder, outcome: SendOutcome, afterMs: number): void {
    const timer = this.#clock.after(afterMs, () => this.#settle(order.messageId, outcome));
    this.#put({ order, timer });
  }

  #put(currentMessage: PendingOrder): void {
    this.#orders = [...this.#without(currentMessage.order.messageId), currentMessage];
  }

  #without(messageId: string): readonly PendingOrder[] {
    return this.#orders.filter(({ order }) => order.messageId !== messageId);
  }

  /** Settles all orders: transmitted ones with this outcome, the others as unsent. */
  settleOrders(kind: 'unknown' | 'restarted'): void {
    for (const { order, timer } of this.#orders) {
      timer?.cancel();
      // Nothing left of what was not transmitted.
      const unsent = kind === 'restarted' ? 'unprepared' : 'not_sent';
      this.#settle(order.messageId, { kind: timer === undefined ? unsent : kind });
    }
  }

  /**
   * Resolves with true if the message was confirmed before the session's end and the timeout. Calls `late` at the
   * timeout.
   */
  receipt(
    token: string,
    options: { readonly timeoutMs: number; readonly late: () => void },
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = this.#clock.after(options.timeoutMs, () => {
        options.late();
        this.#answer(token, false);
      });
      const answer = (receipt: boolean): void => {
        timeout.cancel();
        resolve(receipt);
      };
      this.#writers = [...this.#writers, { token, answer }];
    });
  }

  confirm(token: string): void {
    this.#answer(token, true);
  }

  #answer(token: string, receipt: boolean): void {
    const writer = this.#writers.find((waiting) => waiting.token === token);
    this.#writers = this.#writers.filter((waiting) => waiting !== writer);
    writer?.answer(receipt);
  }

  end(): void {
    for (const timer of this.#timers) timer.cancel();
    for (const { token } of this.#writers) this.#answer(token, false);
  }

  #settle(messageId: string, outcome: SendOutcome): void {
    const otherOrders = this.#without(messageId);
    if (otherOrders.length === this.#orders.length) return;
    this.#orders = otherOrders.length === 0 ? NONE : otherOrders;
    this.#settled(this, messageId, outcome);
  }
}

const NONE: readonly never[] = [];
