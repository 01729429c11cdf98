/** Bounds and shrinks the memory that the client keeps for each session. */
import type { MessageRetryManager, SignalRepositoryWithLIDStore } from '@whiskeysockets/baileys';
import { LRUCache } from 'lru-cache';
import { DAY_MS, MINUTE_MS } from '../../../../runtime/durations.ts';

/** Entries a session, two for each contact: as many contacts as devices are remembered of (`newShopMemory`). */
const MOST_MAPPINGS = 4_000;

/** The client keeps an unused entry for the same time (its LIDMappingStore). In milliseconds. */
const MAPPINGS_MS = 3 * DAY_MS;

/**
 * Bounds the client's memory of numbers and the network's own ids of them. The client keeps all it ever saw, each with
 * its own timer. Forgotten ones are read from the store.
 */
export function boundMappings({ lidMapping }: SignalRepositoryWithLIDStore): void {
  const mappingCache = new LRUCache<string, string>({
    // With `max` alone, the memory of all entries would be allocated at once.
    maxSize: MOST_MAPPINGS,
    sizeCalculation: () => 1,
    ttl: MAPPINGS_MS,
    updateAgeOnGet: true,
  });
  if (!('mappingCache' in lidMapping)) throw new Error('the client keeps ids of contacts elsewhere now');
  Object.assign(lidMapping, { mappingCache });
}

/** The number of keys, and the time, that the client keeps them (its MessageRetryManager). */
const BASE_KEYS = 1_024;
const BASE_KEYS_MS = 15 * MINUTE_MS;

/** Never filled, so one object serves all sessions. */
const NO_MESSAGES = new LRUCache<string, object>({ max: 1 });

/**
 * Lets the client's memory for unreadable messages grow with its content. The client allocates 1,536 entries at once,
 * 75 KiB a session. Here it keeps no messages: sent ones are in the sealed store (sent-messages.ts), and received ones
 * are never asked for again.
 */
export function shrinkRetryMemory(manager: MessageRetryManager): void {
  const baseKeys = new LRUCache<string, Uint8Array>({
    maxSize: BASE_KEYS,
    sizeCalculation: () => 1,
    ttl: BASE_KEYS_MS,
    ttlAutopurge: true,
  });
  Object.assign(manager, { baseKeys, recentMessagesMap: NO_MESSAGES, addRecentMessage: () => undefined });
}
