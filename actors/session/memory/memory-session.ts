import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../session-host.ts';

/**
 * One session in memory: how it stands, and all that waits on it. Once ended nothing happens to it any more, but that
 * the orders it had in hand are settled.
 */
export class MemorySession {
  readonly generation: number;
  state: 'opening' | 'qr' | 'code' | 'open' = 'opening';
  readonly #clock: Clock;
  readonly #settled: (messageId: string, outcome: SendOutcome) => void;
  /** By message: until its outcome; undefined: it waits to be released. */
  readonly #orders = new Map<string, ArmedTimer | undefined>();
  readonly #timers = new Set<ArmedTimer>();
  /** Who wrote and waits for a receipt, by token. */
  readonly #writers = new Map<string, (receipt: boolean) => void>();

  constructor(options: {
    readonly generation: number;
    readonly clock: Clock;
    /** Told each order's outcome, once. */
    readonly settled: (messageId: string, outcome: SendOutcome) => void;
  }) {
    this.generation = options.generation;
    this.#clock = options.clock;
    this.#settled = options.settled;
  }

  get ordersInHand(): number {
    return this.#orders.size;
  }

  /** Acts after a while, unless the session has ended. */
  later(delayMs: number, act: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      act();
    });
    this.#timers.add(timer);
  }

  /** Takes an order in hand that waits to be released. */
  hold(messageId: string): void {
    this.#orders.set(messageId, undefined);
  }

  isHeld(messageId: string): boolean {
    return this.#orders.has(messageId) && this.#orders.get(messageId) === undefined;
  }

  /** An order that was not released is given up. */
  giveUp(messageId: string): void {
    if (this.isHeld(messageId)) this.#settle(messageId, { kind: 'not_sent' });
  }

  /** Takes an order in hand that comes to this outcome after a while. */
  take(messageId: string, outcome: SendOutcome, afterMs: number): void {
    const timer = this.#clock.after(afterMs, () => this.#settle(messageId, outcome));
    this.#orders.set(messageId, timer);
  }

  /** All orders in hand come to this, as far as they were released. */
  settleOrders(kind: 'unknown' | 'restarted'): void {
    for (const [messageId, timer] of [...this.#orders]) {
      timer?.cancel();
      // Of what was not released nothing left.
      const unsent = kind === 'restarted' ? 'unprepared' : 'not_sent';
      this.#settle(messageId, { kind: timer === undefined ? unsent : kind });
    }
  }

  /** Resolves with whether what was written was confirmed before the session ended or the time was up, which is told. */
  receipt(
    token: string,
    options: { readonly timeoutMs: number; readonly late: () => void },
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = this.#clock.after(options.timeoutMs, () => {
        options.late();
        this.#writers.get(token)?.(false);
      });
      this.#writers.set(token, (receipt) => {
        this.#writers.delete(token);
        timeout.cancel();
        resolve(receipt);
      });
    });
  }

  confirm(token: string): void {
    this.#writers.get(token)?.(true);
  }

  end(): void {
    for (const timer of this.#timers) timer.cancel();
    for (const answer of [...this.#writers.values()]) answer(false);
  }

  #settle(messageId: string, outcome: SendOutcome): void {
    if (this.#orders.delete(messageId)) this.#settled(messageId, outcome);
  }
}
