import { DEFAULT_SHARDS, shardKey } from '../address.ts';
import type { Engine } from '../engine.ts';

/** The key of an installation's number of shards. Installations that 0.2.0 began lack it, and have 128 shards. */
const SHARDS_KEY = '{runtime}:shards';

/**
 * Returns how many shards the data in Redis has. If there is no data yet, this call decides: `wantedCount`, or 128.
 * Rejects if the data has another number than `wantedCount`, since every key of a tenant contains its shard. Otherwise
 * rejects like `Engine.read`.
 */
export async function installedShards(
  engine: Pick<Engine, 'append' | 'read'>,
  wantedCount: number | undefined,
): Promise<number> {
  const readStored = async () => (await engine.read([['GET', SHARDS_KEY]]))[0];
  let knownCount = await readStored();
  if (knownCount === null) {
    // The first node that ever ran claimed this shard, in any version.
    const [owner] = await engine.read([['GET', shardKey(0, 'owner')]]);
    if (owner === null) {
      await engine.append([['SET', SHARDS_KEY, String(wantedCount ?? DEFAULT_SHARDS), 'NX']]);
      knownCount = await readStored();
    } else {
      // A node that began at the same moment may have decided meanwhile.
      knownCount = (await readStored()) ?? String(DEFAULT_SHARDS);
    }
  }
  const shards = Number(knownCount);
  if (wantedCount !== undefined && wantedCount !== shards) {
    throw new Error(
      `SHARDS is ${wantedCount}, but the data in this Redis has ${shards} shards, which cannot change: set SHARDS=${shards}, or leave it out`,
    );
  }
  return shards;
}
