import { shardKey } from './address.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Logger } from './logger.ts';
import type { OwnedShard } from './owned-shard.ts';
import type { WriteCommand } from './store.ts';

/**
 * What the runtime itself notes of an actor in Redis, beside the turns: that it waits for an operator, or that it
 * need not come back. A mark that is not written costs time, not truth: the next activation finds out again.
 */
export class ShardMarks {
  readonly #commits: GroupCommit;
  readonly #log: Logger;

  constructor(commits: GroupCommit, log: Logger) {
    this.#commits = commits;
    this.#log = log;
  }

  suspend(shard: OwnedShard, text: string): void {
    shard.suspended.add(text);
    this.#write(shard, 'SADD', 'suspended', text);
  }

  /** False: it was not suspended. */
  resume(shard: OwnedShard, text: string): boolean {
    if (!shard.suspended.delete(text)) return false;
    this.#write(shard, 'SREM', 'suspended', text);
    return true;
  }

  leaveAwake(shard: OwnedShard, text: string): void {
    if (shard.awake.delete(text)) this.#write(shard, 'SREM', 'awake', text);
  }

  /** The actor is gone for good, whether it was active here or not. */
  forget(shard: OwnedShard, text: string): void {
    this.leaveAwake(shard, text);
    this.resume(shard, text);
  }

  #write(shard: OwnedShard, command: WriteCommand, set: string, text: string): void {
    this.#commits.add(shard, {
      writes: [[command, shardKey(shard.number, set), text]],
      settled: (outcome) => {
        if (outcome === 'committed') return;
        this.#log.warn({ actor: text, outcome, command, set }, 'A mark was not written');
      },
    });
  }
}
