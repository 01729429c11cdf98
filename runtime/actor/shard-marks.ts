import { shardKey } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { GroupCommit } from '../ownership/group-commit.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import type { Write } from '../store.ts';

export interface ShardMarksOptions {
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
}

/**
 * The runtime's own two marks of an actor in Redis, written outside of turns. The mark `suspended` says that the actor
 * waits for an operator. Operators see this before it is stored, so a refused write is retried. The mark `awake` says
 * that the actor must live. If its removal is not written, the mark stays until the shard is claimed again. Then the
 * actor is activated, and this activation removes the mark.
 */
export class ShardMarks {
  readonly #options: ShardMarksOptions;

  constructor(options: ShardMarksOptions) {
    this.#options = options;
  }

  suspend(shard: OwnedShard, text: string): void {
    shard.suspended.add(text);
    this.#storeSuspension(shard, text);
  }

  /** Returns false if the actor was not suspended. */
  resume(shard: OwnedShard, text: string): boolean {
    if (!shard.suspended.delete(text)) return false;
    this.#storeSuspension(shard, text);
    return true;
  }

  leaveAwake(shard: OwnedShard, text: string): void {
    if (shard.awake.delete(text)) this.#write(shard, ['SREM', shardKey(shard.number, 'awake'), text]);
  }

  /** Removes both marks of an actor that no longer exists, whether it was active here or not. */
  forget(shard: OwnedShard, text: string): void {
    this.leaveAwake(shard, text);
    this.resume(shard, text);
  }

  /** Writes the current mark. If Redis refused, it writes the mark of that later moment. */
  #storeSuspension(shard: OwnedShard, text: string): void {
    const { clock, limits } = this.#options;
    const command = shard.suspended.has(text) ? 'SADD' : 'SREM';
    this.#write(shard, [command, shardKey(shard.number, 'suspended'), text], () => {
      clock.after(limits.retryMs, () => {
        if (!shard.isDropped) this.#storeSuspension(shard, text);
      });
    });
  }

  #write(shard: OwnedShard, write: Write, onRefused?: () => void): void {
    this.#options.commits.add(shard, {
      writes: [write],
      onSettled: (outcome) => {
        if (outcome === 'committed') return;
        if (outcome === 'unavailable' && onRefused !== undefined) onRefused();
        else this.#options.log.warn({ outcome, write }, 'a mark was not written');
      },
    });
  }
}
