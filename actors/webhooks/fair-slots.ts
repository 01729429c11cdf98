import { Counts } from '../../runtime/counts.ts';

/** The slot of one piece of work. */
export interface Slot {
  /** Counts the piece for another name from now on, unless that name or its group has as many as it may already. */
  moveTo(name: string): void;
}

/** How many jobs may run at a time. */
interface SlotBounds {
  readonly all: number;
  /** The bound for one name. */
  readonly share: number;
  /** The limit for one name, including jobs that were moved to it. */
  readonly moved: number;
  /** The bound for all names of the group. */
  readonly group: number;
  isOfGroup(name: string): boolean;
}

/**
 * Limits the jobs at a time, in all and per name, so that no name waits for another's. A limit for the group leaves
 * slots for other groups, for any number of names.
 */
export class FairSlots {
  readonly #bounds: SlotBounds;
  readonly #held = new Counts();
  /** Waiting jobs by name. The names are in the order in which they get slots. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #ofGroup = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Runs the work once a slot is free; the oldest piece of a name comes first. */
  async run<Result>(name: string, work: (slot: Slot) => Promise<Result>): Promise<Result> {
    if (this.#isFree(name)) this.#take(name);
    else await this.#wait(name);
    let holder = name;
    const moveTo = (otherName: string): void => {
      if (this.#held.countOf(otherName) >= this.#bounds.moved || this.#isGroupFull(otherName)) return;
      this.#take(otherName);
      this.#leave(holder);
      holder = otherName;
    };
    try {
      return await work({ moveTo });
    } finally {
      this.#leave(holder);
    }
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

  #wait(name: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(name) ?? [];
      queue.push(resolve);
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
