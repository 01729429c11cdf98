/** Loads an actor's state, one load at a time: a later one, or `cancel`, makes the answer to an earlier one void. */
export class StateLoader {
  readonly #load: () => Promise<unknown>;
  readonly #loaded: (state: unknown) => void;
  readonly #failed: (error: unknown) => void;
  #serial = 0;

  constructor(options: {
    readonly load: () => Promise<unknown>;
    readonly loaded: (state: unknown) => void;
    readonly failed: (error: unknown) => void;
  }) {
    this.#load = options.load;
    this.#loaded = options.loaded;
    this.#failed = options.failed;
  }

  start(): void {
    this.#serial += 1;
    void this.#run(this.#serial);
  }

  cancel(): void {
    this.#serial += 1;
  }

  async #run(serial: number): Promise<void> {
    let state: unknown;
    try {
      state = await this.#load();
    } catch (error) {
      if (serial === this.#serial) this.#failed(error);
      return;
    }
    if (serial === this.#serial) this.#loaded(state);
  }
}
