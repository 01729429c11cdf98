import type { ArmedTimer } from '../../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SessionContext } from '../shared/session-context.ts';
import type { PendingOrder } from './pending-order.ts';

/**
 * How long the work of one `runAlone` call may take, in milliseconds. It requests keys at most twice, for 20 s each,
 * and sends a frame.
 */
const LONGEST_ALONE_MS = MINUTE_MS;

/**
 * A lock on a session's client. The client seals one thing at a time, so a ciphertext belongs to the order that has the
 * lock. Everything else waits, so work that hangs ends the session.
 */
export class ClientLock {
  readonly #context: SessionContext;
  #holder: PendingOrder | 'other' | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** The deadline of the present work, unless its order has one. */
  #deadline: ArmedTimer | undefined;

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /** The order that has the client, although it may have been given up. Undefined for other work, or none. */
  get order(): PendingOrder | undefined {
    return this.#holder === 'other' ? undefined : this.#holder;
  }

  /** Resolves when the current work has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Runs work that seals something other than an order, when the client is free. Its steps are stored at once. */
  runAlone(work: () => Promise<void>): Promise<void> {
    return this.give('other', () => {
      this.#bound(LONGEST_ALONE_MS, 'what is sealed beside the orders did not come to an end in time');
      return work();
    });
  }

  /** Limits the remaining time of an order that has the client. It was given up, and all others wait for it. */
  bound(pendingOrder: PendingOrder): void {
    if (this.#holder !== pendingOrder) return;
    this.#bound(pendingOrder.order.deadlineMs, 'a send that was given up did not come to an end in time');
  }

  #bound(mostMs: number, detail: string): void {
    this.#deadline = this.#context.clock.after(mostMs, () => this.#context.end('transient', detail));
  }

  /**
   * Passes the order to the client when it is free, until the result of `relay` settles. `relay` returns undefined for
   * an order that was given up meanwhile. Rejects if the result does.
   */
  async give(holder: PendingOrder | 'other', relay: () => Promise<unknown> | undefined): Promise<void> {
    // Checks and takes the lock in one step, because several may wait for the same end.
    while (this.#holder !== undefined) await this.#ended;
    this.#holder = holder;
    // Work that throws at once rejects like any other, so the client is always given back.
    const run = (async () => relay())();
    const finish = (): void => {
      this.#holder = undefined;
      this.#deadline?.cancel();
    };
    this.#ended = run.then(finish, finish);
    await run;
  }
}
