import { shardPrefix } from '../address.ts';
import type { Write } from '../store.ts';

/** Most arguments of one write; well below what Lua's stack holds. */
const LONGEST_WRITE = 4_000;

/**
 * Throws if a write cannot belong to the shard's commit. Its key then lacks the shard's hash tag, or it is too long for
 * a script. The check runs for each turn, so such a mistake of a turn reaches no group of commits.
 */
export function checkWrites(shard: number, writes: readonly Write[]): void {
  const tag = shardPrefix(shard);
  for (const write of writes) {
    if (!write[1].startsWith(tag)) throw new Error(`the key ${write[1]} is not one of shard ${shard}`);
    if (write.length > LONGEST_WRITE)
      throw new Error(`a ${write[0]} of ${write.length} parts is too long for a script`);
  }
}
