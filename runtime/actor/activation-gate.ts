import type { Asker } from '../ownership/active-actor.ts';

/** Whether an actor's state may be shown: not before the first turn after its activation. Holds who waits for that. */
export class ActivationGate {
  #isReady = false;
  #wasReady = false;
  #waiters: Asker[] = [];

  get isReady(): boolean {
    return this.#isReady;
  }

  /** What the first turn is run for. `activated` until one took effect: it settles what a lost process left behind. */
  get occasion(): 'activated' | 'reactivated' {
    return this.#wasReady ? 'reactivated' : 'activated';
  }

  /** Resolves with the state, or rejects with why there will be none. */
  wait(): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** The first turn has taken effect. `undefined`: there is no such actor. */
  reached(state: unknown): void {
    this.#isReady = state !== undefined;
    this.#wasReady ||= this.#isReady;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(state);
  }

  /** The state is gone; whoever waits goes on waiting for the next. */
  lost(): void {
    this.#isReady = false;
  }

  /** The next activation is as the first one. */
  startOver(): void {
    this.#wasReady = false;
  }

  /** Nobody need wait any longer. */
  refuse(failure: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(failure);
  }
}
