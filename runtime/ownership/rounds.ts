/** Work that is done one round at a time. A request during a round waits for that round and one more. */
export class Rounds {
  readonly #work: () => Promise<void>;
  readonly #isOver: () => boolean;
  #current: Promise<void> | undefined;
  #isRequested = false;

  /** `work` never rejects. Once `isOver` returns true, no further round begins, even if one was requested. */
  constructor(work: () => Promise<void>, isOver: () => boolean) {
    this.#work = work;
    this.#isOver = isOver;
  }

  /** The round under way, with the one that follows it, if any. */
  get current(): Promise<void> | undefined {
    return this.#current;
  }

  /** Begins a round, or has one follow the round under way. */
  run(): Promise<void> {
    if (this.#current !== undefined) {
      this.#isRequested = true;
      return this.#current;
    }
    this.#current = this.#rounds().finally(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  /** Called during a round: another follows it. */
  again(): void {
    this.#isRequested = true;
  }

  async #rounds(): Promise<void> {
    do {
      this.#isRequested = false;
      await this.#work();
    } while (this.#isRequested && !this.#isOver());
  }
}
