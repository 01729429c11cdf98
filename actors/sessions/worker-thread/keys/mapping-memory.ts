import type { SignalRepositoryWithLIDStore } from '@whiskeysockets/baileys';
import { LRUCache } from 'lru-cache';

/** Entries a session, two for each contact: as many contacts as devices are remembered of (`newShopMemory`). */
const MOST_ENTRIES = 4_000;

/** The client keeps an unused entry for the same time (its LIDMappingStore). In milliseconds. */
const KEPT_MS = 3 * 24 * 60 * 60_000;

/**
 * Bounds the client's memory of numbers and the network's own ids of them. The client keeps all it ever saw, each with
 * its own timer. Forgotten ones are read from the store.
 */
export function boundMappings({ lidMapping }: SignalRepositoryWithLIDStore): void {
  const mappingCache = new LRUCache<string, string>({
    // With `max` alone, the memory of all entries would be allocated at once.
    maxSize: MOST_ENTRIES,
    sizeCalculation: () => 1,
    ttl: KEPT_MS,
    updateAgeOnGet: true,
  });
  if (!('mappingCache' in lidMapping)) throw new Error('the client keeps ids of contacts elsewhere now');
  Object.assign(lidMapping, { mappingCache });
}
