import type { MessageRetryManager } from '@whiskeysockets/baileys';
import { LRUCache } from 'lru-cache';

/** The number of keys, and the time, that the client keeps them (its MessageRetryManager). */
const BASE_KEYS = 1_024;
const BASE_KEYS_MS = 15 * 60_000;

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
