/** The end of the turn under way, and who waits for it: any number of them, and all are told. */
export class Waiters {
  readonly #waiters: (() => void)[] = [];

  /** Resolves when the turn has ended, whatever came of it. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** Tells all who wait. */
  reached(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
