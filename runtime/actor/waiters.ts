/** Callers that wait for the end of the turn under way. */
export class Waiters {
  readonly #waiters: (() => void)[] = [];

  /** Resolves when the turn has ended, with any outcome. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  resolveAll(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
