/**
 * How long one slice may keep the event loop from everybody else. A send passes through a few turns of the loop and may
 * meet a slice in each, so a slice is short beside a send.
 */
const SLICE_MS = 0.25;
/** The time is looked at once in so many items, since looking costs as well. */
const ITEMS_A_LOOK = 16;

/**
 * Cuts long work into slices, so that it never holds up the event loop for longer than about a quarter of a millisecond:
 * a look at thousands of actors must not be felt by those who send. After each item: `if (yielder.isOver()) await yielder.next()`.
 */
export class Yielder {
  #begunMs = performance.now();
  #items = 0;

  /** Whether it is time to let others go first; `isLong`: after an item that may take a slice by itself. */
  isOver(isLong = false): boolean {
    this.#items += 1;
    if (!isLong && this.#items % ITEMS_A_LOOK !== 0) return false;
    return performance.now() - this.#begunMs >= SLICE_MS;
  }

  async next(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    this.#begunMs = performance.now();
  }
}

/** Visits every item in slices. What comes or goes in between is seen or not seen. */
export async function eachYielding<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  const yielder = new Yielder();
  for (const item of items) {
    visit(item);
    if (yielder.isOver()) await yielder.next();
  }
}
