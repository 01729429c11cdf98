import type { Asker } from '../ownership/active-actor.ts';

type Waiter = Pick<Asker, 'resolve' | 'reject'>;

/** Holds callers that want an actor's state until the first turn after its activation has taken effect. */
export class ActivationGate {
  #isReady = false;
  #wasReady = false;
  /** Undefined while no caller waits, which is usual. */
  #waiters: Waiter[] | undefined;

  get isReady(): boolean {
    return this.#isReady;
  }

  /**
   * The occasion of the first turn after a load. It is `activated` until such a turn took effect, because that turn
   * settles the work of a lost process. Afterwards it is `reactivated`.
   */
  get occasion(): 'activated' | 'reactivated' {
    return this.#wasReady ? 'reactivated' : 'activated';
  }

  /** Resolves with the state, or rejects with the reason why the actor cannot be loaded. */
  wait(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiters ??= [];
      this.#waiters.push({ resolve, reject });
    });
  }

  /** Call it when the first turn has taken effect. `undefined` means that there is no such actor. */
  onReached(state: unknown): void {
    this.#isReady = state !== undefined;
    this.#wasReady ||= this.#isReady;
    for (const waiter of this.#leaving()) waiter.resolve(state);
  }

  /** Called when the state is dropped. Callers go on waiting for the next activation. */
  onLost(): void {
    this.#isReady = false;
  }

  /** The next activation is as the first one. */
  startOver(): void {
    this.#wasReady = false;
  }

  /** Ends all waits. */
  refuse(failure: Error): void {
    for (const waiter of this.#leaving()) waiter.reject(failure);
  }

  #leaving(): readonly Waiter[] {
    const waiters = this.#waiters ?? [];
    this.#waiters = undefined;
    return waiters;
  }
}
