import type { ArmedTimer, Clock } from '../clock.ts';
import type { Engine } from '../engine.ts';
import type { RuntimeLimits } from '../limits.ts';

export interface LeaseListener {
  /** The lease is over by our own clock. It is unknown whether Redis has ended it. */
  readonly onExpired: () => void;
  /** The lease had expired by our clock. Redis reports that it was still valid and has been lengthened. */
  readonly onRegained: () => void;
  /** Redis reports that the lease has ended. It will never be valid again. */
  readonly onEnded: () => void;
}

/**
 * One heartbeat for the whole node. Its time is counted on the monotonic clock from before each call to Redis, so it
 * ends here before it ends there. `holds` is therefore right even if the event loop was blocked or the process stopped.
 */
export class Lease {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #limits: RuntimeLimits;
  readonly #listener: LeaseListener;
  readonly #nodeId: string;
  #incarnation = '';
  #untilMs = 0;
  #timer: ArmedTimer | undefined;
  #expiry: ArmedTimer | undefined;
  #isRunning = false;

  constructor(
    nodeId: string,
    options: {
      readonly engine: Engine;
      readonly clock: Clock;
      readonly limits: RuntimeLimits;
      readonly listener: LeaseListener;
    },
  ) {
    this.#nodeId = nodeId;
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#limits = options.limits;
    this.#listener = options.listener;
  }

  /** Returns the remaining validity in milliseconds, or 0 if the lease is not valid. */
  marginMs(): number {
    return Math.max(0, this.#untilMs - this.#clock.monotonicMs());
  }

  holds(): boolean {
    return this.#clock.monotonicMs() < this.#untilMs;
  }

  /**
   * True before it is first taken, and after Redis ended it or it was resigned. It is valid only after it is taken
   * again.
   */
  get isOver(): boolean {
    return !this.#isRunning;
  }

  /** Takes a new lease, which ends any other of this node id, and renews it from then on. */
  async take(incarnation: string): Promise<void> {
    const askedMs = this.#clock.monotonicMs();
    this.#incarnation = incarnation;
    await this.#engine.register(this.#nodeId, incarnation, this.#limits.leaseMs);
    // The lease was resigned before it was taken.
    if (this.#incarnation !== incarnation) return;
    this.#extend(askedMs);
    this.#isRunning = true;
    this.#schedule();
  }

  /** Renews no more. */
  stop(): void {
    this.#isRunning = false;
    this.#incarnation = '';
    this.#timer?.cancel();
    this.#expiry?.cancel();
    this.#untilMs = 0;
  }

  #extend(askedMs: number): void {
    this.#untilMs = askedMs + this.#limits.leaseMs;
    this.#expiry?.cancel();
    this.#expiry = this.#clock.after(Math.max(0, this.#untilMs - this.#clock.monotonicMs()), () =>
      this.#listener.onExpired(),
    );
  }

  #schedule(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#limits.renewEveryMs, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const incarnation = this.#incarnation;
    const askedMs = this.#clock.monotonicMs();
    let isLonger: boolean;
    try {
      isLonger = await this.#engine.renew(this.#nodeId, incarnation, this.#limits.leaseMs);
    } catch {
      // Redis did not answer: the lease is neither longer nor shorter.
      if (this.#isRunning && incarnation === this.#incarnation) this.#schedule();
      return;
    }
    if (!this.#isRunning || incarnation !== this.#incarnation) return;
    if (!isLonger) {
      this.stop();
      this.#listener.onEnded();
      return;
    }
    const hadExpired = !this.holds();
    this.#extend(askedMs);
    this.#schedule();
    if (hadExpired) this.#listener.onRegained();
  }
}
