import { type Clock, waitAtMost } from '../clock.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { ActiveActor } from './active-actor.ts';
import type { OwnedShard } from './owned-shard.ts';

/**
 * Empties a shard before it is handed over. Takes no more client commands, and lets every actor settle its work in
 * progress for up to `settleMs`. Then stops each after its current turn. Resolves in bounded time.
 */
export async function vacateShard(
  shard: OwnedShard,
  options: { readonly clock: Clock; readonly limits: RuntimeLimits; readonly log: Logger },
): Promise<void> {
  const { clock, limits, log } = options;
  shard.isDraining = true;
  for (const actor of shard.actors.values()) actor.drain();
  await waitAtMost(clock, limits.settleMs, whenSettled(shard));
  const logThrown = (error: unknown): void =>
    log.error({ shard: shard.number, err: error }, 'an actor threw when it was asked whether it is settled');
  const unsettledActors = [...shard.actors]
    .filter(([, actor]) => !isSettled(actor, logThrown))
    .map(([text]) => text);
  if (unsettledActors.length > 0) {
    const fields = { shard: shard.number, actors: unsettledActors, settleMs: limits.settleMs };
    log.warn(fields, 'a shard is handed over with work in progress: its deadline has passed');
  }
  const stops = [...shard.actors.values()].map((actor) => actor.stop('released'));
  await waitAtMost(clock, limits.answerMs, Promise.all(stops));
  for (const actor of [...shard.actors.values()]) actor.dispose('released');
}

/** Resolves when no actor of the shard has work in progress. */
function whenSettled(shard: OwnedShard): Promise<void> {
  return new Promise((resolve) => {
    shard.onSettling = () => {
      for (const actor of shard.actors.values()) if (!isSettled(actor)) return;
      resolve();
    };
    shard.onSettling();
  });
}

/** True if the actor is settled. An actor whose behaviour throws counts as not settled. */
function isSettled(actor: ActiveActor, onThrown?: (error: unknown) => void): boolean {
  try {
    return actor.isSettled;
  } catch (error) {
    onThrown?.(error);
    return false;
  }
}
