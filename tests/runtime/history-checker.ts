import type { MemoryRedis } from './memory-redis.ts';

/** An effect as it was performed. */
export interface PerformedEffect {
  readonly sequence: number;
  readonly id: string;
  /** True if the node that performed it owned the shard in Redis at that moment. */
  readonly isOwner: boolean;
}

/** The record of a run of the simulation. */
export interface RunRecord {
  readonly redis: MemoryRedis;
  readonly effects: readonly PerformedEffect[];
  /** Ids of commands that were acknowledged. */
  readonly acknowledged: readonly string[];
  /** Ids of commands that were sent. */
  readonly sent: readonly string[];
}

/**
 * Returns every broken promise of the runtime in a run, as sentences. Revisions rise by one and epochs never fall. No
 * command is in the history twice, and every acknowledged one is there once. Each effect is performed at most once,
 * after its commit and by the shard's owner. It is performed exactly once if its command was acknowledged.
 */
export function violations(run: RunRecord): string[] {
  const found: string[] = [];
  const committedAt = checkHistory(run.redis, found);
  const performed = new Map<string, number>();
  for (const { id, isOwner, sequence } of run.effects) {
    if (!isOwner) found.push(`the effect of ${id} came from a node that no longer owned its shard`);
    performed.set(id, (performed.get(id) ?? 0) + 1);
    const commitIndex = committedAt.get(id);
    if (commitIndex === undefined) found.push(`the effect of ${id} was performed and never committed`);
    else if (commitIndex > sequence) found.push(`the effect of ${id} came before its commit`);
  }
  for (const [id, times] of performed) if (times > 1) found.push(`the effect of ${id} came ${times} times`);
  for (const id of run.acknowledged) {
    if (!committedAt.has(id)) found.push(`${id} was acknowledged and is not in the history`);
    if (!performed.has(id)) found.push(`${id} was acknowledged before its effect`);
  }
  return found;
}

function checkHistory(redis: MemoryRedis, found: string[]): Map<string, number> {
  const committedAt = new Map<string, number>();
  for (const { sequence, shard, record, before, writes } of redis.history) {
    if (record.revision !== before.revision + 1)
      found.push(`shard ${shard} went from revision ${before.revision} to ${record.revision}`);
    if (record.epoch < before.epoch)
      found.push(`shard ${shard} fell from epoch ${before.epoch} to ${record.epoch}`);
    if (record.wallMs < before.wallMs) found.push(`the time of shard ${shard} ran backwards`);
    for (const write of writes) {
      if (write[0] !== 'SADD' || !write[1].includes(':commands')) continue;
      const id = String(write[2]);
      if (committedAt.has(id)) found.push(`${id} was committed twice`);
      committedAt.set(id, sequence);
    }
  }
  return committedAt;
}
