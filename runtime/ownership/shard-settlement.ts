import type { ShardRecord } from '../engine.ts';
import type { HeldShards } from './held-shards.ts';
import type { Membership } from './membership.ts';
import type { OwnedShard } from './owned-shard.ts';
import type { OwnershipNotices } from './ownership-notices.ts';
import type { OwnershipOptions } from './ownership-options.ts';

/** The parts of `Ownership` that settlement uses. */
interface SettlementParts {
  readonly held: HeldShards;
  readonly notices: OwnershipNotices;
  readonly membership: Membership;
}

/** Checks whether shards are still this node's, and gives up those that are not. */
export class ShardSettlement {
  readonly #options: OwnershipOptions;
  readonly #parts: SettlementParts;

  constructor(options: OwnershipOptions, parts: SettlementParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * Takes the shard again with the next epoch, so writes still under way on a dead connection are refused from here on.
   * The revision then shows which writes were applied. If another node has the shard, gives it up. Resolves when the
   * owner is known, the lease is over, or this node was stopped. An unreachable Redis is asked again and never rejects
   * it.
   */
  settle(shard: OwnedShard): Promise<void> {
    shard.settling ??= this.#settle(shard).finally(() => {
      shard.settling = undefined;
    });
    return shard.settling;
  }

  async #settle(shard: OwnedShard): Promise<void> {
    const { engine, commits } = this.#options;
    const { held, membership, notices } = this.#parts;
    let { epoch } = shard.record;
    while (!shard.isDropped) {
      const owner = membership.incarnation;
      const answer = await membership.askAgain(() => engine.changeOwner(shard.number, epoch, owner));
      // A reply for an earlier name proves nothing, because others may take shards whose lease is over.
      if (answer === undefined || shard.isDropped || membership.lease.isOver) return;
      const { isChanged, record } = answer;
      // An earlier attempt may have succeeded without a reply, under this name or the one before.
      const isOurs = isChanged || (record.epoch === epoch + 1 && membership.isOurs(record.owner));
      if (!isOurs || record.revision < shard.record.revision) {
        this.lose(shard, record);
        return;
      }
      epoch = record.epoch;
      if (record.owner !== membership.incarnation) continue;
      commits().resolve(shard, record);
      notices.note(shard.number, record);
      held.onOwnerConfirmed(shard);
      return;
    }
  }

  /**
   * Gives up a shard that another node has, or of which Redis lost writes. `actual` is its record in Redis, if known.
   */
  lose(shard: OwnedShard, actual?: ShardRecord): void {
    const { log, counters } = this.#options;
    if (shard.isDropped) return;
    const fields = { shard: shard.number, known: shard.record, actual };
    if (actual !== undefined && isOlder(actual, shard.record)) {
      counters.revertedShards += 1;
      log.error(
        fields,
        'Redis holds an older revision than this node remembers: was a backup restored, or did a failover lose writes?',
      );
    } else {
      log.warn(fields, 'the shard has another owner');
    }
    this.forget(shard);
  }

  /** Removes the shard from this node, with everything that waits for its commits. */
  forget(shard: OwnedShard): void {
    this.#parts.held.drop(shard);
    this.#options.commits().drop(shard);
    shard.onSettling?.();
  }
}

/** True if Redis lost writes: neither number of a record ever falls. */
function isOlder(actual: ShardRecord, known: ShardRecord): boolean {
  return actual.revision < known.revision || actual.epoch < known.epoch;
}
