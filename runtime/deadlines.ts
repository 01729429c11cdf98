import type { ArmedTimer, Clock } from './clock.ts';

/**
 * Deadlines of many items. Items that end within a few milliseconds share a timer, so thousands of items need few
 * timers.
 */
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

  /** Ends the item after `afterMs`, unless the returned timer is cancelled before. */
  add(item: Item, afterMs: number): ArmedTimer {
    const nowMs = this.#clock.monotonicMs();
    const atMs = Math.ceil((nowMs + afterMs) / this.#togetherMs) * this.#togetherMs;
    const group = this.#groups.get(atMs) ?? this.#begin(atMs, atMs - nowMs);
    return new Ending(group, item);
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
      atMs,
      groups: this.#groups,
      timer: undefined,
      first: undefined,
      last: undefined,
    };
    this.#groups.set(atMs, group);
    // Node cuts fractions off, so the timer would fire too early.
    group.timer = this.#clock.after(Math.ceil(afterMs), () => this.#pass(group));
    return group;
  }

  #pass(group: Group<Item>): void {
    forget(group);
    for (let next = group.first; next !== undefined; next = group.first) {
      next.leave();
      this.#passed(next.item);
    }
  }
}

/** Items that end at the same moment, as a list in the order of their addition. */
interface Group<Item> {
  readonly atMs: number;
  /** The groups it is one of, until it is over. */
  readonly groups: Map<number, Group<Item>>;
  timer: ArmedTimer | undefined;
  first: Ending<Item> | undefined;
  last: Ending<Item> | undefined;
}

function forget<Item>(group: Group<Item>): void {
  if (group.groups.get(group.atMs) === group) group.groups.delete(group.atMs);
}

/**
 * One item's deadline. It is a link of its group's list, because a set of one or two items takes four times the memory.
 */
class Ending<Item> implements ArmedTimer {
  readonly item: Item;
  /** Undefined once the deadline has passed or was cancelled. */
  #group: Group<Item> | undefined;
  #before: Ending<Item> | undefined;
  #after: Ending<Item> | undefined;

  constructor(group: Group<Item>, item: Item) {
    this.item = item;
    this.#group = group;
    this.#before = group.last;
    if (group.last === undefined) group.first = this;
    else group.last.#after = this;
    group.last = this;
  }

  cancel(): void {
    const group = this.#group;
    this.leave();
    if (group === undefined || group.first !== undefined) return;
    group.timer?.cancel();
    forget(group);
  }

  /** Removes it from the list. */
  leave(): void {
    const group = this.#group;
    if (group === undefined) return;
    if (this.#before === undefined) group.first = this.#after;
    else this.#before.#after = this.#after;
    if (this.#after === undefined) group.last = this.#before;
    else this.#after.#before = this.#before;
    this.#group = undefined;
    this.#before = undefined;
    this.#after = undefined;
  }
}
