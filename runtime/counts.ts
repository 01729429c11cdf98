/** Counts by key. A key whose count is 0 takes no memory. */
export class Counts {
  readonly #byKey = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  countOf(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Adds `amount`, which may be negative, and returns the key's new count. */
  add(key: string, amount: number): number {
    const count = this.countOf(key) + amount;
    if (count === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, count);
    this.#total += amount;
    return count;
  }
}
