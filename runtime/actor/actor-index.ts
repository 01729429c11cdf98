import type { ActorIndex, ActorSummary } from '../actors.ts';
import { addressOf } from '../address.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import { Yielder } from '../yielder.ts';

/**
 * Returns an index of all actors of `shards`. Each visit makes a new summary of every actor, about 3 µs an actor. It
 * does so in slices that are much shorter than a send (docs/decisions/010-operators-walk-in-slices.md). `see` turns a
 * summary into the value that is visited.
 */
export function actorIndex<Seen extends object>(
  shards: () => Iterable<OwnedShard>,
  see: (summary: ActorSummary) => Seen,
): ActorIndex<Seen> {
  return {
    async each(visit) {
      const yielder = new Yielder();
      // Copies, so that an actor that leaves and comes back between two slices is visited once.
      for (const shard of [...shards()]) {
        for (const text of new Set([...shard.actors.keys(), ...shard.suspended])) {
          const summary = shard.dropped ? undefined : summaryOf(shard, text);
          if (summary !== undefined) visit(see(summary));
          if (yielder.isOver()) await yielder.next();
        }
      }
    },
  };
}

/** Returns `undefined` for an actor that is neither active nor suspended any more. */
function summaryOf(shard: OwnedShard, text: string): ActorSummary | undefined {
  const actor = shard.actors.get(text);
  if (actor !== undefined) return actor.summary();
  if (!shard.suspended.has(text)) return undefined;
  const address = addressOf(shard.number, text);
  return { address, status: 'suspended', mailboxDepth: 0, oldestQueuedMs: 0, restarts: 0, state: undefined };
}
