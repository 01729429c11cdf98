import { shardKey } from '../address.ts';
import type { Clock } from '../clock.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { GroupCommit } from '../ownership/group-commit.ts';
import type { OwnedShard } from '../ownership/owned-shard.ts';
import type { Write } from '../store.ts';

/** What marks are written with. */
export interface ShardMarksOptions {
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
}

/**
 * What the runtime itself notes of an actor in Redis, beside the turns: whether it waits for an operator, written as
 * soon as Redis takes it, since an operator was told; and that it need not come back, which the next activation finds
 * out again where it was not written.
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

  /** False: it was not suspended. */
  resume(shard: OwnedShard, text: string): boolean {
    if (!shard.suspended.delete(text)) return false;
    this.#storeSuspension(shard, text);
    return true;
  }

  leaveAwake(shard: OwnedShard, text: string): void {
    if (shard.awake.delete(text)) this.#write(shard, ['SREM', shardKey(shard.number, 'awake'), text]);
  }

  /** The actor is gone for good, whether it was active here or not. */
  forget(shard: OwnedShard, text: string): void {
    this.leaveAwake(shard, text);
    this.resume(shard, text);
  }

  /** As it stands by then, when Redis did not take it. */
  #storeSuspension(shard: OwnedShard, text: string): void {
    const { clock, limits } = this.#options;
    const command = shard.suspended.has(text) ? 'SADD' : 'SREM';
    this.#write(shard, [command, shardKey(shard.number, 'suspended'), text], () => {
      clock.after(limits.retryMs, () => {
        if (!shard.dropped) this.#storeSuspension(shard, text);
      });
    });
  }

  #write(shard: OwnedShard, write: Write, refused?: () => void): void {
    this.#options.commits.add(shard, {
      writes: [write],
      settled: (outcome) => {
        if (outcome === 'committed') return;
        if (outcome === 'unavailable' && refused !== undefined) refused();
        else this.#options.log.warn({ outcome, write }, 'A mark was not written');
      },
    });
  }
}
