import type { ArmedTimer, Clock } from './clock.ts';

/** Items that end at the same moment. */
export interface Ending<Item> {
  /** Takes an item out, which then does not end; one that is not in it changes nothing. */
  delete(item: Item): void;
}

/** When many things end. Those that end within a few milliseconds share a timer, so thousands of them need few. */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #togetherMs: number;
  readonly #passed: (item: Item) => void;
  readonly #groups = new Map<number, Group<Item>>();

  /** `passed` is called at an item's time, up to `togetherMs` late, for items of one moment in the order of their addition. */
  constructor(clock: Clock, togetherMs: number, passed: (item: Item) => void) {
    this.#clock = clock;
    this.#togetherMs = togetherMs;
    this.#passed = passed;
  }

  /** Ends the item after so many milliseconds, unless it is deleted from what is returned before. */
  add(item: Item, afterMs: number): Ending<Item> {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.ceil((nowMs + afterMs) / this.#togetherMs) * this.#togetherMs;
    const group = this.#groups.get(atMs) ?? this.#begin(atMs, atMs - nowMs);
    group.items.add(item);
    return group;
  }

  #begin(atMs: number, afterMs: number): Group<Item> {
    // Node cuts fractions off, and the timer would come before its time.
    const timer = this.#clock.after(Math.ceil(afterMs), () => {
      this.#forget(atMs, group);
      for (const item of group.items) this.#passed(item);
    });
    const group: Group<Item> = new Group(timer, () => this.#forget(atMs, group));
    this.#groups.set(atMs, group);
    return group;
  }

  #forget(atMs: number, group: Group<Item>): void {
    if (this.#groups.get(atMs) === group) this.#groups.delete(atMs);
  }
}

class Group<Item> implements Ending<Item> {
  readonly items = new Set<Item>();
  readonly #timer: ArmedTimer;
  readonly #emptied: () => void;

  constructor(timer: ArmedTimer, emptied: () => void) {
    this.#timer = timer;
    this.#emptied = emptied;
  }

  delete(item: Item): void {
    if (!this.items.delete(item) || this.items.size > 0) return;
    this.#timer.cancel();
    this.#emptied();
  }
}
