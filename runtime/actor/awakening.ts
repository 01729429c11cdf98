import type { Clock } from '../clock.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';

/**
 * Activates the actors that must live after their shards were claimed. It starts a few at each step, so a restart with
 * a thousand connected shops does not open a thousand sockets at once. A request to an actor starts it at once.
 */
export class Awakening {
  readonly #clock: Clock;
  readonly #limits: RuntimeLimits;
  readonly #awaken: (shard: OwnedShard, text: string) => void;
  #queue: { readonly shard: OwnedShard; readonly text: string }[] = [];
  #isRunning = false;

  constructor(clock: Clock, limits: RuntimeLimits, awaken: (shard: OwnedShard, text: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#awaken = awaken;
  }

  /** Queues all actors of a shard that must live. */
  add(shard: OwnedShard): void {
    for (const text of shard.awake) this.#queue.push({ shard, text });
    if (this.#isRunning || this.#queue.length === 0) return;
    this.#isRunning = true;
    this.#clock.after(0, () => this.#step());
  }

  #step(): void {
    const { awakenPerStep, awakenStepMs } = this.#limits;
    const dueActors = this.#queue.slice(0, awakenPerStep);
    this.#queue = this.#queue.slice(awakenPerStep);
    for (const { shard, text } of dueActors) if (!shard.isDropped) this.#awaken(shard, text);
    // The limit applies to all shards together. Actors that are added before the step is over wait for the next step.
    this.#isRunning = dueActors.length > 0;
    if (this.#isRunning) this.#clock.after(awakenStepMs, () => this.#step());
  }
}
