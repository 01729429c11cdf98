import type { Clock } from '../clock.ts';

/**
 * The grace period after Redis was unreachable. The leases of all nodes have run out then, and one node reconnects
 * first. For the length of a lease it takes no shard of the others: their actors and sockets are active, and they
 * reconnect as well.
 */
export class TakeoverGrace {
  readonly #clock: Clock;
  readonly #forMs: number;
  #untilMs = 0;

  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Redis did not answer: the grace starts, or starts again. */
  begin(): void {
    this.#untilMs = this.#clock.monotonicMs() + this.#forMs;
  }

  lasts(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }
}
