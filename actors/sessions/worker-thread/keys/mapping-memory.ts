import type { SignalRepositoryWithLIDStore } from '@whiskeysockets/baileys';
import { LRUCache } from 'lru-cache';

/** Entries a session, two for each contact: as many contacts as devices are remembered of (`newShopMemory`). */
const MOST_ENTRIES = 4_000;

/** The client keeps an entry that is not asked for just as long (its LIDMappingStore). In milliseconds. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

/**
 * Bounds what a client remembers of numbers and the network's own ids of them: it keeps all it ever saw, each with a timer of its
 * own. What is forgotten is read from the store.
 */
export function boundMappings({ lidMapping }: SignalRepositoryWithLIDStore): void {
  const mappingCache = new LRUCache<string, string>({
    // With a mere `max` room for all would be made at once.
    maxSize: MOST_ENTRIES,
    sizeCalculation: () => 1,
    ttl: KEPT_MS,
    updateAgeOnGet: true,
  });
  if (!('mappingCache' in lidMapping)) throw new Error('the client keeps ids of contacts elsewhere now');
  Object.assign(lidMapping, { mappingCache });
}
