import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { OutboxOptions } from './outbox-options.ts';
import type { Pending } from './pending-order.ts';

/** How long one work of `alone` may take, in milliseconds: a question for keys and its repetition, each of 20 s, and a frame. */
const LONGEST_ALONE_MS = 60_000;

/**
 * The turn at a session's client. The client seals one thing at a time, so a ciphertext belongs to the order that has
 * the turn. Everything else waits, so a turn that hangs ends the session.
 */
export class ClientTurn {
  readonly #options: Pick<OutboxOptions, 'clock' | 'stalled'>;
  #holder: Pending | 'other' | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: Pick<OutboxOptions, 'clock' | 'stalled'>) {
    this.#options = options;
  }

  /** The order that the client has, although it may have been given up; undefined: something else, or nothing. */
  get order(): Pending | undefined {
    return this.#holder === 'other' ? undefined : this.#holder;
  }

  /** Resolves when the turn of the moment has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /**
   * Gives the order to the client when it has nothing, until what `relay` returns settles. `relay` returns undefined for
   * an order that was given up meanwhile. Rejects if what it returns does.
   */
  give(pending: Pending, relay: () => Promise<unknown> | undefined): Promise<void> {
    return this.#take(pending, relay, () => {
      pending.relayed = true;
      pending.deadlineOfClient?.cancel();
    });
  }

  /** Runs what seals something that is no order, when the client has nothing: its steps are stored as they come. */
  alone(work: () => Promise<void>): Promise<void> {
    let deadline: ArmedTimer | undefined;
    const bounded = (): Promise<void> => {
      deadline = this.#options.clock.after(LONGEST_ALONE_MS, () =>
        this.#options.stalled('what is sealed beside the orders did not come to an end in time'),
      );
      return work();
    };
    return this.#take('other', bounded, () => deadline?.cancel());
  }

  /** Bounds the rest of the order's turn, if it has it: it was given up, and all others wait behind it. */
  bound(pending: Pending): void {
    if (this.#holder !== pending) return;
    pending.deadlineOfClient = this.#options.clock.after(pending.order.deadlineMs, () =>
      this.#options.stalled('a send that was given up did not come to an end in time'),
    );
  }

  async #take(
    holder: Pending | 'other',
    work: () => Promise<unknown> | undefined,
    ended: () => void,
  ): Promise<void> {
    // In one step with what follows: several may wait for the same end.
    while (this.#holder !== undefined) await this.#ended;
    this.#holder = holder;
    const running = work();
    if (running === undefined) {
      this.#holder = undefined;
      return;
    }
    const done = (): void => {
      this.#holder = undefined;
      ended();
    };
    this.#ended = running.then(done, done);
    await running;
  }
}
