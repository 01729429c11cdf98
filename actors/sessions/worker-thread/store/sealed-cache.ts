import { LRUCache } from 'lru-cache';

/** The rough size of an entry in bytes, without its value and the characters of its key. */
const ENTRY_BYTES = 200;

/** Opened values that a worker keeps. A message reads the Signal session of each device three times. */
const OPENED = 256;

/**
 * Sealed values that the sessions of one worker read or wrote last, in at most `maxBytes` bytes. Each session has its
 * own prefix of keys, made when it opens. So no session sees values from an earlier ownership of its shop.
 */
export class SealedCache {
  readonly #entries: LRUCache<string, Uint8Array>;
  readonly #opened = new LRUCache<Uint8Array, Buffer>({ max: OPENED });
  #sessions = 0;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      // The library takes 0 for no limit; nothing fits into one byte.
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (value, key) => ENTRY_BYTES + 2 * key.length + value.byteLength,
    });
  }

  /** Returns a prefix for the keys of one session that no other session has. */
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

  /** Returns the opened form of a sealed value. Calls `open` if it is not among those opened last. */
  openOnce(sealedBytes: Uint8Array, open: () => Buffer): Buffer {
    const knownBytes = this.#opened.get(sealedBytes);
    if (knownBytes !== undefined) return knownBytes;
    const openedBytes = open();
    this.#opened.set(sealedBytes, openedBytes);
    return openedBytes;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
