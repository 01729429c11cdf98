/** The actor whose state is loaded. */
export interface LoadedActor {
  /** Reads the state from the store. */
  readState(): Promise<unknown>;
  stateLoaded(state: unknown): void;
  loadFailed(error: unknown): void;
}

/** Loads an actor's state, one load at a time. A later load, or `cancel`, makes the result of an earlier one void. */
export class StateLoader {
  readonly #actor: LoadedActor;
  #serial = 0;

  constructor(actor: LoadedActor) {
    this.#actor = actor;
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
      state = await this.#actor.readState();
    } catch (error) {
      if (serial === this.#serial) this.#actor.loadFailed(error);
      return;
    }
    if (serial === this.#serial) this.#actor.stateLoaded(state);
  }
}
