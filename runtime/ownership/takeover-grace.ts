import type { Clock } from '../clock.ts';

/**
 * The grace after Redis was away. The leases of all nodes have run out then, and one node reconnects first: for
 * the length of a lease it takes no shard of the others, whose actors and sockets are alive and which reconnect
 * as well.
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
