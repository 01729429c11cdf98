import type { Clock } from '../clock.ts';

/**
 * A Redis that was away lets the leases of all nodes run out, and one node is the first to be back. For the length of
 * a lease it takes nothing of the others: they are on their way, with their actors and sockets alive.
 */
export class TakeoverGrace {
  readonly #clock: Clock;
  readonly #forMs: number;
  #untilMs = 0;

  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Redis did not answer: from now on, and anew with each time. */
  begin(): void {
    this.#untilMs = this.#clock.monotonicMs() + this.#forMs;
  }

  lasts(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }
}
