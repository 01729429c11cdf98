import type { MessageRetryManager } from '@whiskeysockets/baileys';
import { LRUCache } from 'lru-cache';

/** As many keys, and for as long, as the client keeps (its MessageRetryManager). */
const BASE_KEYS = 1_024;
const BASE_KEYS_MS = 15 * 60_000;

/** Never filled, so that one does for all sessions. */
const NO_MESSAGES = new LRUCache<string, object>({ max: 1 });

/**
 * Lets what a client remembers for messages that could not be read grow with what it holds: it makes room for 1,536 entries
 * at once, 75 KiB a session. And it keeps no messages: those sent are kept in the sealed store (sent-messages.ts), and those
 * received nobody asks for again.
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
