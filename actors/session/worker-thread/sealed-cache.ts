/** What an entry takes beside its value and the characters of its key, in bytes, roughly. */
const ENTRY_BYTES = 200;

/**
 * Sealed values that the sessions of one worker read or wrote last, in a bounded number of bytes; the longest unused
 * go first. Each session has keys of its own, made anew when it opens, so that none ever sees what another one's
 * ownership of its shop left behind.
 */
export class SealedCache {
  readonly #entries = new Map<string, Uint8Array>();
  readonly #maxBytes: number;
  #bytes = 0;
  #sessions = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What comes before the keys of one session, and of no other. */
  newPrefix(): string {
    this.#sessions += 1;
    return `${this.#sessions}/`;
  }

  get(key: string): Uint8Array | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: Uint8Array): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#bytes += sizeOf(key, value);
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, value);
  }
}

const sizeOf = (key: string, value: Uint8Array): number => ENTRY_BYTES + 2 * key.length + value.byteLength;
