import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Longest slice of work, in milliseconds. A send passes through a few ticks of the event loop and may meet a slice in
 * each. So a slice is much shorter than a send.
 */
const SLICE_MS = 0.25;
/** Items between two checks of the time, since a check costs as much as a few items. */
const ITEMS_PER_LOOK = 16;

/**
 * Cuts long work into slices, so that it never blocks the event loop for longer than about a quarter of a
 * millisecond. After each item: `if (yielder.isOver()) await yielder.next()`.
 */
export class Yielder {
  #begunMs = performance.now();
  #items = 0;

  /** True if the slice is used up. Set `isLong` if the item just done may have taken a slice by itself. */
  isOver(isLong = false): boolean {
    this.#items += 1;
    if (!isLong && this.#items % ITEMS_PER_LOOK !== 0) return false;
    return performance.now() - this.#begunMs >= SLICE_MS;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#begunMs = performance.now();
  }
}

/** Visits every item in slices. Items that come or go between two slices may be visited or not. */
export async function eachYielding<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  const yielder = new Yielder();
  for (const item of items) {
    visit(item);
    if (yielder.isOver()) await yielder.next();
  }
}
