import { shardKey } from '../address.ts';
import type { Engine, ShardRecord } from '../engine.ts';
import { OwnedShard } from './owned-shard.ts';

/**
 * Claims the given shards. Returns those that were won, with their actors that must live or are suspended. Rejects as
 * `Engine.read` does.
 */
export async function claimShards(
  numbers: readonly number[],
  options: {
    readonly engine: Engine;
    readonly incarnation: string;
    /** The records of all shards as they were seen last, by number. */
    readonly records: readonly ShardRecord[];
  },
): Promise<OwnedShard[]> {
  const { engine, incarnation, records } = options;
  const answers = await Promise.allSettled(
    numbers.map((number) => engine.changeOwner(number, (records[number] as ShardRecord).epoch, incarnation)),
  );
  const wonShards: { number: number; record: ShardRecord }[] = [];
  for (const [index, answer] of answers.entries()) {
    // A claim whose reply was lost is found by the next check: the shard is ours and not run here. It is then claimed
    // once more.
    if (answer.status === 'fulfilled' && answer.value.isChanged)
      wonShards.push({ number: numbers[index] as number, record: answer.value.record });
  }
  const members = await engine.read(
    wonShards.flatMap(({ number }) =>
      ['awake', 'suspended'].map((part) => ['SMEMBERS', shardKey(number, part)] as const),
    ),
  );
  return wonShards.map(
    ({ number, record }, index) =>
      new OwnedShard(number, record, {
        awake: new Set(members[index * 2]),
        suspended: new Set(members[index * 2 + 1]),
      }),
  );
}
