import type { ArmedTimer, Clock } from '../clock.ts';

/**
 * Least time between two checks because of notices, for each node. So notices make all nodes together check at most 500
 * times a second.
 */
const CHECK_SPACING_MS = 2;

/** The times at which a node checks the owners of shards: regularly, and soon after a notice. */
export class CheckTimes {
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly #everyMs: number;
  readonly #check: () => Promise<void>;
  #regular: ArmedTimer | undefined;
  /** The timer of a check that a notice requested. */
  #soon: ArmedTimer | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  /** `check` never rejects. It calls `noteCheck`. */
  constructor(clock: Pick<Clock, 'after' | 'monotonicMs'>, everyMs: number, check: () => Promise<void>) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#check = check;
  }

  /** Called when a check begins, for any reason. */
  noteCheck(): void {
    this.#checkedAtMs = this.#clock.monotonicMs();
  }

  /** Checks regularly from now on, the first time after the interval. */
  start(): void {
    if (this.#isStopped) return;
    this.#regular = this.#clock.after(this.#everyMs, () => {
      void this.#check().finally(() => this.start());
    });
  }

  /**
   * Checks because of a notice, and waits a little if it checked just before. Every node gets a notice of each change.
   * If many nodes come and go, Redis could not answer a check for each notice.
   */
  checkSoon(nodes: number): void {
    if (this.#soon !== undefined) return;
    const waitMs = this.#checkedAtMs + nodes * CHECK_SPACING_MS - this.#clock.monotonicMs();
    if (waitMs <= 0) {
      void this.#check();
      return;
    }
    this.#soon = this.#clock.after(waitMs, () => {
      this.#soon = undefined;
      if (!this.#isStopped) void this.#check();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#regular?.cancel();
    this.#soon?.cancel();
  }
}
