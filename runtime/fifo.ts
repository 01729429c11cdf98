/** Shared by all empty queues: a node has tens of thousands of them. */
const NOTHING: never[] = [];

/** First in, first out, without moving waiting items: taking costs the same for any length of the queue. */
export class Fifo<Item> {
  /** Never changed while it is empty. */
  #items: (Item | undefined)[] = NOTHING;
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  peek(): Item | undefined {
    return this.#items[this.#head];
  }

  push(item: Item): void {
    if (this.#items.length === 0) this.#items = [item];
    else this.#items.push(item);
  }

  /** Puts an item back to where it was taken from. */
  putBack(item: Item): void {
    if (this.#head > 0) {
      this.#head -= 1;
      this.#items[this.#head] = item;
    } else {
      this.#items = [item, ...this.#items];
    }
  }

  take(): Item | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) {
      this.#items = NOTHING;
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Empties the queue, oldest first. */
  takeAll(): Item[] {
    const items = this.#items.slice(this.#head) as Item[];
    this.#items = NOTHING;
    this.#head = 0;
    return items;
  }
}
