import { Counts } from './counts.ts';

/** The slot of one job. */
export interface Slot {
  /** Counts the job for another name from now on. Does nothing if that name or its group is at its limit. */
  moveTo(name: string): void;
  /** Gives the slot to the next job. Only the first call counts. */
  giveBack(): void;
}

/** How many jobs may run at a time. Without a number there is no such limit. */
interface SlotLimits {
  readonly all?: number;
  /** The limit for one name. */
  readonly share: number;
  /** The limit for one name, including jobs that were moved to it. */
  readonly moved?: number;
  /** The limit for all names of the group together. */
  readonly group?: number;
  isOfGroup?(name: string): boolean;
}

/**
 * Limits the jobs at a time, in all and per name. With a limit per name only, no name waits for another's jobs. A limit
 * for the group leaves slots to the other names, however many names the group has.
 */
export class FairSlots {
  readonly #limits: Required<SlotLimits>;
  readonly #held = new Counts();
  /** Waiting jobs by name. The names are in the order in which they get slots. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #ofGroup = 0;

  constructor(limits: SlotLimits) {
    const none = Number.POSITIVE_INFINITY;
    this.#limits = { all: none, moved: none, group: none, isOfGroup: () => false, ...limits };
  }

  /**
   * Runs a job once a slot is free, at once if one is, and gives the slot back. Rejects like `take` and like the job.
   */
  async run<Result>(
    name: string,
    job: (slot: Slot) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const waiting = this.#enter(name, signal);
    if (waiting !== undefined) await waiting;
    const slot = this.#slotOf(name);
    try {
      return await job(slot);
    } finally {
      slot.giveBack();
    }
  }

  /**
   * Resolves with a slot once one is free. The oldest job of a name comes first. Rejects with the signal's reason if
   * the signal aborts before.
   */
  async take(name: string, signal?: AbortSignal): Promise<Slot> {
    await this.#enter(name, signal);
    return this.#slotOf(name);
  }

  #slotOf(name: string): Slot {
    let holder: string | undefined = name;
    return {
      moveTo: (otherName) => {
        if (holder === undefined || this.#isGroupFull(otherName)) return;
        if (this.#held.countOf(otherName) >= this.#limits.moved) return;
        this.#take(otherName);
        this.#leave(holder);
        holder = otherName;
      },
      giveBack: () => {
        if (holder !== undefined) this.#leave(holder);
        holder = undefined;
      },
    };
  }

  /** Takes a slot now and returns undefined, or returns the wait for one. */
  #enter(name: string, signal: AbortSignal | undefined): Promise<void> | undefined {
    signal?.throwIfAborted();
    if (!this.#isFree(name)) return this.#wait(name, signal);
    this.#take(name);
    return undefined;
  }

  #isFree(name: string): boolean {
    const { all, share } = this.#limits;
    return this.#held.total < all && this.#held.countOf(name) < share && !this.#isGroupFull(name);
  }

  #isGroupFull(name: string): boolean {
    return this.#limits.isOfGroup(name) && this.#ofGroup >= this.#limits.group;
  }

  #take(name: string): void {
    this.#held.add(name, 1);
    if (this.#limits.isOfGroup(name)) this.#ofGroup += 1;
  }

  #wait(name: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(name) ?? [];
      const abandon = (): void => {
        queue.splice(queue.indexOf(resume), 1);
        if (queue.length === 0) this.#waiting.delete(name);
        reject(signal?.reason);
      };
      const resume = (): void => {
        signal?.removeEventListener('abort', abandon);
        resolve();
      };
      signal?.addEventListener('abort', abandon, { once: true });
      queue.push(resume);
      this.#waiting.set(name, queue);
    });
  }

  /** Gives the slot to the next name that may have one, which then goes to the end of the order. */
  #leave(name: string): void {
    this.#held.add(name, -1);
    if (this.#limits.isOfGroup(name)) this.#ofGroup -= 1;
    for (const [next, queue] of this.#waiting) {
      if (!this.#isFree(next)) continue;
      const resume = queue.shift();
      this.#waiting.delete(next);
      if (queue.length > 0) this.#waiting.set(next, queue);
      this.#take(next);
      resume?.();
      return;
    }
  }
}
