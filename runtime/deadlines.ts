import type { ArmedTimer, Clock } from './clock.ts';

/** Items that end at the same moment, in the order of their addition. */
interface Group<Item> {
  readonly timer: ArmedTimer;
  readonly items: Set<{ readonly item: Item }>;
}

/**
 * Deadlines of many items. Items that end within a few milliseconds share a timer, so thousands of items need few
 * timers.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #togetherMs: number;
  readonly #passed: (item: Item) => void;
  /** By their moment. */
  readonly #groups = new Map<number, Group<Item>>();

  /** `passed` is called at an item's time, up to `togetherMs` late, for items of one moment in the order of their addition. */
  constructor(clock: Clock, togetherMs: number, passed: (item: Item) => void) {
    this.#clock = clock;
    this.#togetherMs = togetherMs;
    this.#passed = passed;
  }

  /** Ends the item after `afterMs`, unless the returned timer is cancelled before. */
  add(item: Item, afterMs: number): ArmedTimer {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.ceil((nowMs + afterMs) / this.#togetherMs) * this.#togetherMs;
    const group = this.#groups.get(atMs) ?? this.#begin(atMs, atMs - nowMs);
    const entry = { item };
    group.items.add(entry);
    return {
      cancel: () => {
        if (!group.items.delete(entry) || group.items.size > 0) return;
        group.timer.cancel();
        if (this.#groups.get(atMs) === group) this.#groups.delete(atMs);
      },
    };
  }

  /** Ends all items now. Items that are added meanwhile end at their own time. */
  endAll(): void {
    for (const [atMs, group] of [...this.#groups]) {
      group.timer.cancel();
      this.#pass(atMs, group);
    }
  }

  #begin(atMs: number, afterMs: number): Group<Item> {
    // Node cuts fractions off, so the timer would fire too early.
    const timer = this.#clock.after(Math.ceil(afterMs), () => this.#pass(atMs, group));
    const group: Group<Item> = { timer, items: new Set() };
    this.#groups.set(atMs, group);
    return group;
  }

  #pass(atMs: number, { items }: Group<Item>): void {
    if (this.#groups.get(atMs)?.items === items) this.#groups.delete(atMs);
    for (const entry of items) {
      items.delete(entry);
      this.#passed(entry.item);
    }
  }
}
