/** The erasures of shops' credentials that run. Several may run for one shop. */
export class CredentialErasures {
  readonly #running = new Map<string, number>();
  readonly #onEnded: (shopId: string) => void;

  /** `onEnded` is called when none runs for a shop any more. */
  constructor(onEnded: (shopId: string) => void) {
    this.#onEnded = onEnded;
  }

  isRunning(shopId: string): boolean {
    return this.#running.has(shopId);
  }

  /** Settles like `work`. */
  async run(shopId: string, work: () => Promise<void>): Promise<void> {
    this.#running.set(shopId, (this.#running.get(shopId) ?? 0) + 1);
    try {
      await work();
    } finally {
      const othersCount = (this.#running.get(shopId) ?? 1) - 1;
      this.#running.set(shopId, othersCount);
      if (othersCount === 0) {
        this.#running.delete(shopId);
        this.#onEnded(shopId);
      }
    }
  }
}
