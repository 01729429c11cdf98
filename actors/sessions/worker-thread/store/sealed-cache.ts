import { LRUCache } from 'lru-cache';

/** What an entry takes beside its value and the characters of its key, in bytes, roughly. */
const ENTRY_BYTES = 200;

/**
 * Sealed values that the sessions of one worker read or wrote last, in at most `maxBytes` bytes. Each session has keys
 * of its own, made anew when it opens, so that none ever sees what another one's ownership of its shop left behind.
 */
export class SealedCache {
  readonly #entries: LRUCache<string, Uint8Array>;
  #sessions = 0;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      // The library takes 0 for no bound; nothing fits into one byte.
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (value, key) => ENTRY_BYTES + 2 * key.length + value.byteLength,
    });
  }

  /** What comes before the keys of one session, and of no other. */
  newPrefix(): string {
    this.#sessions += 1;
    return `${this.#sessions}/`;
  }

  get(key: string): Uint8Array | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Uint8Array): void {
    this.#entries.set(key, value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
