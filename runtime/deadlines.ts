import type { Clock } from './clock.ts';

/** When many things end. Those that end within a few milliseconds share a timer, so thousands of them need few. */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #togetherMs: number;
  readonly #passed: (item: Item) => void;
  readonly #groups = new Map<number, Set<Item>>();

  /** `passed` is called at an item's time, up to `togetherMs` late. */
  constructor(clock: Clock, togetherMs: number, passed: (item: Item) => void) {
    this.#clock = clock;
    this.#togetherMs = togetherMs;
    this.#passed = passed;
  }

  /** Ends the item after so many milliseconds, unless it is deleted from the returned set before. */
  add(item: Item, afterMs: number): Set<Item> {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.ceil((nowMs + afterMs) / this.#togetherMs) * this.#togetherMs;
    const group = this.#groups.get(atMs) ?? this.#begin(atMs, atMs - nowMs);
    return group.add(item);
  }

  #begin(atMs: number, afterMs: number): Set<Item> {
    const group = new Set<Item>();
    this.#groups.set(atMs, group);
    this.#clock.after(afterMs, () => {
      this.#groups.delete(atMs);
      for (const item of group) this.#passed(item);
    });
    return group;
  }
}
