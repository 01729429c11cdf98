import type { ArmedTimer, Clock } from './clock.ts';

/**
 * Deadlines of many items. Items that end within a few milliseconds share a timer, so thousands of items need few
 * timers.
 */
export class Deadlines<Item> {
  readonly #clock: Clock;
  readonly #togetherMs: number;
  readonly #onPassed: (item: Item) => void;
  readonly #groups = new Map<number, Group<Item>>();

  /**
   * `onPassed` is called at an item's time, up to `togetherMs` late, for items of one moment in the order of their
   * addition.
   */
  constructor(clock: Clock, togetherMs: number, onPassed: (item: Item) => void) {
    this.#clock = clock;
    this.#togetherMs = togetherMs;
    this.#onPassed = onPassed;
  }

  /** Ends the item after `afterMs`, unless the returned timer is cancelled before. */
  add(item: Item, afterMs: number): ArmedTimer {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.ceil((nowMs + afterMs) / this.#togetherMs) * this.#togetherMs;
    return new ArmedDeadline(item, this.#groups.get(atMs) ?? this.#begin(atMs, atMs - nowMs));
  }

  /** Ends all items now. Items that are added meanwhile end at their own time. */
  endAll(): void {
    for (const group of [...this.#groups.values()]) {
      group.timer?.cancel();
      this.#pass(group);
    }
  }

  #begin(atMs: number, afterMs: number): Group<Item> {
    const group: Group<Item> = {
      endings: new Set(),
      timer: undefined,
      forget: () => {
        // While a moment passes, another group may begin for it.
        if (this.#groups.get(atMs) === group) this.#groups.delete(atMs);
      },
    };
    this.#groups.set(atMs, group);
    // Node cuts fractions off, so the timer would fire too early.
    group.timer = this.#clock.after(Math.ceil(afterMs), () => this.#pass(group));
    return group;
  }

  #pass(group: Group<Item>): void {
    group.forget();
    for (const ending of group.endings) {
      group.endings.delete(ending);
      this.#onPassed(ending.item);
    }
  }
}

/** Items that end at the same moment, in the order of their addition. */
interface Group<Item> {
  readonly endings: Set<ArmedDeadline<Item>>;
  timer: ArmedTimer | undefined;
  forget(): void;
}

/** One item's deadline. */
class ArmedDeadline<Item> implements ArmedTimer {
  readonly item: Item;
  readonly #group: Group<Item>;

  constructor(item: Item, group: Group<Item>) {
    this.item = item;
    this.#group = group;
    group.endings.add(this);
  }

  cancel(): void {
    const { endings, timer, forget } = this.#group;
    // Cancelling does nothing once the deadline has passed.
    if (!endings.delete(this) || endings.size > 0) return;
    timer?.cancel();
    forget();
  }
}
