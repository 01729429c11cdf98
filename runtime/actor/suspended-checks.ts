import { type Address, addressText } from '../address.ts';
import { commitFailure } from '../ownership/commitment.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { checkWrites } from '../ownership/turn-writes.ts';
import { RuntimeFailure } from '../runtime-failure.ts';
import type { Write } from '../store.ts';
import type { ActorSurroundings, AnyBehaviour } from './actor-surroundings.ts';
import { RestartableTimer } from './restartable-timer.ts';

/** The suspended actor. */
interface SuspendedActor {
  readonly address: Address;
  readonly shard: OwnedShard;
  readonly behaviour: AnyBehaviour;
}

/**
 * Commits the writes of an actor that waits for an operator (`Behaviour.suspended`): at once, and every
 * `limits.checkSuspendedMs` after that. The writes are fenced like those of a turn. A failed check is repeated.
 */
export class SuspendedChecks {
  readonly #actor: SuspendedActor;
  readonly #surroundings: ActorSurroundings;
  readonly #timer: RestartableTimer;
  /** Rises with each start and stop, so that a check that began before writes nothing any more. */
  #serial = 0;
  #underWay: Promise<void> | undefined;

  constructor(actor: SuspendedActor, surroundings: ActorSurroundings) {
    this.#actor = actor;
    this.#surroundings = surroundings;
    this.#timer = new RestartableTimer(surroundings.clock);
  }

  start(): void {
    this.#serial += 1;
    if (this.#actor.behaviour.suspended !== undefined)
      this.#run(this.#serial, this.#actor.shard.nowMs(this.#surroundings.clock));
  }

  /**
   * Stops the checks. Resolves when it is known whether the last writes were applied, so that a load sees all of them
   * or none.
   */
  async stop(): Promise<void> {
    this.#serial += 1;
    this.#timer.cancel();
    await this.#underWay;
  }

  #run(serial: number, sinceMs: number): void {
    const { log, limits } = this.#surroundings;
    const actor = addressText(this.#actor.address);
    this.#underWay = this.#check(serial, sinceMs)
      .catch((error: unknown) => {
        const line = 'the check of a suspended actor failed';
        // At `warn`, because operators must know that these writes were not made.
        if (error instanceof RuntimeFailure) log.warn({ actor, code: error.code }, line);
        else log.error({ actor, err: error }, line);
      })
      .finally(() => {
        if (serial !== this.#serial) return;
        this.#underWay = undefined;
        this.#timer.start(limits.checkSuspendedMs, () => this.#run(serial, sinceMs));
      });
  }

  async #check(serial: number, sinceMs: number): Promise<void> {
    const { address, shard, behaviour } = this.#actor;
    const { store, clock, mayAct } = this.#surroundings;
    const context = { store, nowMs: shard.nowMs(clock), sinceMs };
    const { writes = [], effects = [] } = (await behaviour.suspended?.(address, context)) ?? {};
    if (serial !== this.#serial || writes.length === 0 || !mayAct(shard)) return;
    checkWrites(address.shard, writes);
    const isCommitted = await this.#commit(writes);
    if (isCommitted && mayAct(shard)) for (const effect of effects) behaviour.perform(effect, address);
  }

  /**
   * Resolves with true once the writes are applied, and with false if the shard, and this actor with it, was lost.
   * Rejects if Redis is away or refused one. Never settles if the shard was lost before their outcome is known.
   */
  #commit(writes: readonly Write[]): Promise<boolean> {
    const { shard } = this.#actor;
    return new Promise((resolve, reject) => {
      this.#surroundings.commits.add(shard, {
        writes,
        onSettled: (outcome, message) => {
          if (outcome === 'unknown') return;
          if (outcome === 'committed') resolve(true);
          else if (outcome === 'fenced') resolve(false);
          else reject(commitFailure(outcome, message));
        },
      });
    });
  }
}
