import { type Address, addressText } from '../address.ts';
import type { DeactivationReason } from '../behaviour.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';

/**
 * The things that an actor holds on this node in addition to its state: a session, a share of a limit. They outlive a
 * crash, because the restarted actor uses them. If the actor does not restart they are freed, although its state is
 * gone by then.
 */
export class ActorResources {
  readonly #address: Address;
  readonly #behaviour: AnyBehaviour;
  readonly #log: ActorSurroundings['log'];
  /** The last state before it was reloaded, until the actor has a state again. */
  #kept: unknown;

  constructor(address: Address, behaviour: AnyBehaviour, log: ActorSurroundings['log']) {
    this.#address = address;
    this.#behaviour = behaviour;
    this.#log = log;
  }

  /** Called when the actor has a state again. That state owns the resources. */
  taken(): void {
    this.#kept = undefined;
  }

  /**
   * Called when the actor stops with this state, or without any: its behaviour frees the actor's resources here. Never
   * throws.
   */
  left(state: unknown, reason: DeactivationReason): void {
    const keptState = this.#kept;
    if (reason !== 'reloaded') this.#kept = undefined;
    else if (state !== undefined) this.#kept = state;
    const lastState = state ?? (reason === 'reloaded' ? undefined : keptState);
    if (lastState === undefined) return;
    try {
      this.#behaviour.deactivated(lastState, this.#address, reason);
    } catch (error) {
      this.#log.error(
        { actor: addressText(this.#address), err: error },
        'an actor threw while it was stopped',
      );
    }
  }
}
