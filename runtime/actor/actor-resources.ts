import { type Address, addressText } from '../address.ts';
import type { DeactivationReason } from '../behaviour.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';

/**
 * The things that an actor holds on this node beside its state: a session, a share of a limit. They outlive a crash,
 * for the start that follows. If no start follows they are freed, although the state is gone by then.
 */
export class ActorResources {
  readonly #address: Address;
  readonly #behaviour: AnyBehaviour;
  readonly #log: ActorSurroundings['log'];
  /** The last state before a crash, until the next one. */
  #kept: unknown;

  constructor(address: Address, behaviour: AnyBehaviour, log: ActorSurroundings['log']) {
    this.#address = address;
    this.#behaviour = behaviour;
    this.#log = log;
  }

  /** There is a state again, which answers for it. */
  taken(): void {
    this.#kept = undefined;
  }

  /** The actor stops with this state, or without any: its behaviour frees what it holds here. Throws nothing. */
  left(state: unknown, reason: DeactivationReason): void {
    const kept = this.#kept;
    if (reason !== 'crashed') this.#kept = undefined;
    else if (state !== undefined) this.#kept = state;
    const last = state ?? (reason === 'crashed' ? undefined : kept);
    if (last === undefined) return;
    try {
      this.#behaviour.deactivated(last, this.#address, reason);
    } catch (error) {
      this.#log.error(
        { actor: addressText(this.#address), err: error },
        'An actor threw while it was stopped',
      );
    }
  }
}
