/**
 * How long one slice may keep the event loop from everybody else. A send passes through a few turns of the loop and may
 * meet a slice in each, so a slice is short beside a send.
 */
const SLICE_MS = 0.25;
/** The time is looked at once in so many items, since looking costs as well. */
const ITEMS_A_LOOK = 16;

/**
 * Visits every item without ever holding up the event loop for longer than about a quarter of a millisecond: thousands of
 * snapshots must not be felt by those who send. What comes or goes in between is seen or not seen.
 */
export async function inSlices<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  let begun = performance.now();
  let count = 0;
  for (const item of items) {
    visit(item);
    count += 1;
    if (count % ITEMS_A_LOOK !== 0 || performance.now() - begun < SLICE_MS) continue;
    await new Promise<void>((resolve) => void setImmediate(resolve));
    begun = performance.now();
  }
}
