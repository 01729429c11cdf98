import type { Store } from '../../../runtime/store.ts';
import type { MemoryRedis } from '../../runtime/memory-redis.ts';
import { fakeOf } from '../../testbed/fake-of.ts';
import { readsBy } from '../../testbed/reads-by.ts';

/** Returns a store with the reads that shops use. */
export function storeOf(redis: MemoryRedis): Store {
  const read = readsBy((read) => redis.run(read));
  return fakeOf<Store>({
    read,
    lookUp: (_shard, lookups) => read(lookups),
    known: () => undefined,
    knownFields: () => undefined,
  });
}
