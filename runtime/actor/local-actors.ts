import type { ActorSnapshot, ActorSummary, Actors } from '../actors.ts';
import { type Address, addressOf, addressText } from '../address.ts';
import type { Behaviour, Lane } from '../behaviour.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { ActiveActor } from '../ownership/active-actor.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { movedAwayFailure, nodeBusyFailure, RuntimeFailure } from '../runtime-failure.ts';
import { Yielder } from '../yielder.ts';
import { Actor } from './actor.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';

export interface LocalActorsOptions {
  readonly surroundings: ActorSurroundings;
  readonly shard: (number: number) => OwnedShard | undefined;
  readonly shards: () => Iterable<OwnedShard>;
  readonly nodeId: string;
  /** True while Redis is too full for more client commands. */
  readonly storeIsFull: () => boolean;
  /** True while too many turns are under way, or a commit takes too long. */
  readonly isBusy: () => boolean;
}

/** All actors of this node, by shard. It activates them on the first request and stops them when they are idle. */
export class LocalActors implements Actors {
  readonly #options: LocalActorsOptions;
  readonly #behaviours = new Map<string, AnyBehaviour>();

  constructor(options: LocalActorsOptions) {
    this.#options = options;
  }

  /** Makes a kind of actor known. Throws when there is one already. */
  register<State, Command, Effect, Facts>(behaviour: Behaviour<State, Command, Effect, Facts>): void {
    if (behaviour.kind.includes('/')) throw new Error(`a kind must not contain a slash: ${behaviour.kind}`);
    if (this.#behaviours.has(behaviour.kind))
      throw new Error(`there is a behaviour ${behaviour.kind} already`);
    this.#behaviours.set(behaviour.kind, behaviour as unknown as AnyBehaviour);
  }

  ask<Reply>(address: Address, command: unknown, replyIfAbsent?: Reply): Promise<Reply> {
    const refusal = this.#refusal(address, command);
    if (refusal !== undefined) return Promise.reject(refusal);
    const actor = this.#activate(address);
    if (actor === undefined) return Promise.reject(movedAwayFailure());
    return new Promise((resolve, reject) =>
      actor.offer(command, { resolve: resolve as (reply: unknown) => void, reject, replyIfAbsent }),
    );
  }

  /** Gives a stored command to its actor. Rejects if it is of another release, whose type this one does not know. */
  replay(address: Address, command: unknown): Promise<unknown> {
    const lane: Lane | undefined = this.#behaviour(address).lane(command);
    if (lane !== undefined) return this.ask(address, command);
    return Promise.reject(new RuntimeFailure('STORE_UNAVAILABLE', 'the command is of another release'));
  }

  /**
   * Returns the reason why this node takes no client command of any actor now: too much work, or no room in Redis. Then
   * it refuses a control command only if its shard is not here.
   */
  #refusal(address: Address, command: unknown): RuntimeFailure | undefined {
    const isBusy = this.#options.isBusy();
    const isFull = this.#options.storeIsFull();
    if (!isBusy && !isFull) return undefined;
    if (this.#options.shard(address.shard) === undefined) return movedAwayFailure();
    if (this.#behaviour(address).lane(command) === 'control') return undefined;
    if (isFull) return new RuntimeFailure('STORE_UNAVAILABLE', 'Redis is almost full', 5);
    this.#options.surroundings.counters.busyRefusals += 1;
    return nodeBusyFailure();
  }

  tell(address: Address, command: unknown): void {
    const actor = this.#activate(address);
    if (actor !== undefined) {
      actor.offer(command);
      return;
    }
    const { log } = this.#options.surroundings;
    log.warn(
      { actor: addressText(address), shard: address.shard },
      'a command was sent to an actor of another node',
    );
  }

  state<State>(address: Address): MaybePromise<State | undefined> {
    const actor = this.#activate(address);
    if (actor === undefined) return Promise.reject(movedAwayFailure());
    return actor.whenActive() as MaybePromise<State | undefined>;
  }

  peek<State>(address: Address): State | undefined {
    const actor = this.#find(address);
    return actor?.isEnding ? undefined : (actor?.state as State | undefined);
  }

  owns(number: number): boolean {
    const shard = this.#options.shard(number);
    return shard !== undefined && this.#options.surroundings.mayAct(shard);
  }

  /**
   * Each visit makes a new summary, about 3 µs an actor. A slice is much shorter than a send
   * (docs/decisions/010-operators-walk-in-slices.md).
   */
  async each(visit: (summary: ActorSummary) => void): Promise<void> {
    const yielder = new Yielder();
    // Copies, so that an actor that leaves and comes back between two slices is visited once.
    for (const shard of [...this.#options.shards()]) {
      for (const text of new Set([...shard.actors.keys(), ...shard.suspended])) {
        const summary = shard.isDropped ? undefined : summaryOf(shard, text);
        if (summary !== undefined) visit(summary);
        if (yielder.isOver()) await yielder.next();
      }
    }
  }

  snapshot(address: Address): ActorSnapshot | undefined {
    const shard = this.#options.shard(address.shard);
    const isSuspended = shard?.suspended.has(addressText(address)) ?? false;
    const actor = isSuspended ? this.#activate(address) : this.#find(address);
    if (shard === undefined || actor === undefined) return undefined;
    return actor.snapshot({ nodeId: this.#options.nodeId, epoch: shard.record.epoch });
  }

  async resume(address: Address): Promise<void> {
    const actor = this.#activate(address);
    if (actor === undefined) throw movedAwayFailure();
    actor.resume();
    await actor.whenActive();
  }

  async restart(address: Address): Promise<void> {
    const actor = this.#activate(address);
    if (actor === undefined) throw movedAwayFailure();
    await actor.restart();
    await actor.whenActive();
  }

  async passivate(
    address: Address,
    options: { readonly isForced?: boolean } = {},
  ): Promise<'passivated' | 'refused'> {
    const shard = this.#options.shard(address.shard);
    if (shard === undefined) throw movedAwayFailure();
    const actor = this.#find(address);
    if (options.isForced) {
      await actor?.stop('passivated');
      this.#options.surroundings.marks.forget(shard, addressText(address));
    } else if (actor?.isNeeded) {
      return 'refused';
    } else {
      await actor?.stop('passivated');
    }
    return 'passivated';
  }

  /** Activates an actor that must live, after its shard was claimed. */
  awaken(shard: OwnedShard, text: string): void {
    const address = addressOf(shard.number, text);
    if (!this.#behaviours.has(address.kind)) {
      this.#options.surroundings.log.error(
        { actor: text },
        'an actor must stay active, but its kind is unknown',
      );
      return;
    }
    this.#activate(address);
  }

  /** Stops the actors that have been idle for long and need not live. */
  passivateIdle(): void {
    const { clock, counters } = this.#options.surroundings;
    const nowMs = clock.monotonicMs();
    for (const shard of this.#options.shards()) {
      for (const actor of shard.actors.values()) {
        if (!actor.mayPassivate(nowMs)) continue;
        counters.passivations += 1;
        actor.dispose('passivated');
      }
    }
  }

  #activate(address: Address): ActiveActor | undefined {
    const shard = this.#options.shard(address.shard);
    if (shard === undefined) return undefined;
    const text = addressText(address);
    const active = shard.actors.get(text);
    if (active !== undefined) return active;
    if (shard.isDraining) return undefined;
    const actor = new Actor(address, shard, this.#behaviour(address), this.#options.surroundings);
    shard.actors.set(text, actor);
    return actor;
  }

  #find(address: Address): ActiveActor | undefined {
    return this.#options.shard(address.shard)?.actors.get(addressText(address));
  }

  #behaviour(address: Address): AnyBehaviour {
    const behaviour = this.#behaviours.get(address.kind);
    if (behaviour === undefined) throw new Error(`no behaviour was registered for ${address.kind}`);
    return behaviour;
  }
}

/** Returns `undefined` for an actor that is neither active nor suspended any more. */
function summaryOf(shard: OwnedShard, text: string): ActorSummary | undefined {
  const actor = shard.actors.get(text);
  if (actor !== undefined) return actor.summary();
  if (!shard.suspended.has(text)) return undefined;
  const address = addressOf(shard.number, text);
  return {
    address,
    status: 'suspended',
    mailboxDepth: 0,
    oldestCommandAgeMs: 0,
    restarts: 0,
    state: undefined,
  };
}
