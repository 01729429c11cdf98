import { Counts } from './counts.ts';

/** The slot of one piece of work. */
export interface Slot {
  /** Counts the piece for another name from now on, unless that name or its group has as many as it may already. */
  moveTo(name: string): void;
  /** Gives the slot to the next piece. Only the first call counts. */
  giveBack(): void;
}

/** How many jobs may run at a time. An absent bound is no bound. */
interface SlotBounds {
  readonly all?: number;
  /** The bound for one name. */
  readonly share: number;
  /** The limit for one name, including jobs that were moved to it. */
  readonly moved?: number;
  /** The bound for all names of the group. */
  readonly group?: number;
  isOfGroup?(name: string): boolean;
}

/**
 * Limits the jobs at a time, in all and per name. With a bound per name only, no name waits for another's jobs. A limit
 * for the group leaves slots for other groups, for any number of names.
 */
export class FairSlots {
  readonly #bounds: Required<SlotBounds>;
  readonly #held = new Counts();
  /** Waiting jobs by name. The names are in the order in which they get slots. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #ofGroup = 0;

  constructor(bounds: SlotBounds) {
    const none = Number.POSITIVE_INFINITY;
    this.#bounds = { all: none, moved: none, group: none, isOfGroup: () => false, ...bounds };
  }

  /** Runs the work once a slot is free, at once if one is, and gives it back. Rejects like `take` and like the work. */
  async run<Result>(
    name: string,
    work: (slot: Slot) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const waiting = this.#enter(name, signal);
    if (waiting !== undefined) await waiting;
    const slot = this.#slotOf(name);
    try {
      return await work(slot);
    } finally {
      slot.giveBack();
    }
  }

  /**
   * Resolves with a slot once one is free; the oldest piece of a name comes first. Rejects with the signal's reason if
   * that aborts before.
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
        if (this.#held.countOf(otherName) >= this.#bounds.moved) return;
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
    const { all, share } = this.#bounds;
    return this.#held.total < all && this.#held.countOf(name) < share && !this.#isGroupFull(name);
  }

  #isGroupFull(name: string): boolean {
    return this.#bounds.isOfGroup(name) && this.#ofGroup >= this.#bounds.group;
  }

  #take(name: string): void {
    this.#held.add(name, 1);
    if (this.#bounds.isOfGroup(name)) this.#ofGroup += 1;
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
    if (this.#bounds.isOfGroup(name)) this.#ofGroup -= 1;
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
