/** Takes items one by one and passes them on together. */
export interface Gathered<Item> {
  add(item: Item): void;
  /** Passes on, at once, what was not yet. */
  passOn(): void;
}

/**
 * Passes items on when the turn of the event loop ends. For what need not be done before a reply leaves and costs
 * several times as much between two system calls as it does many times in a row, its code and tables at hand.
 */
export function gatherEachTick<Item>(receive: (items: readonly Item[]) => void): Gathered<Item> {
  let gathered: Item[] = [];
  const passOn = (): void => {
    const items = gathered;
    gathered = [];
    if (items.length > 0) receive(items);
  };
  return {
    add(item) {
      if (gathered.length === 0) setImmediate(passOn);
      gathered.push(item);
    },
    passOn,
  };
}
