interface ExpiringCacheOptions {
  readonly lifeMs: number;
  readonly maxEntries: number;
  readonly nowMs: () => number;
}

/**
 * A map whose entries expire and which drops the longest unused when it is full. Fits the client's cache options. It is
 * kept outside the socket, so a reconnection loses nothing.
 */
export class ExpiringCache {
  readonly #entries = new Map<string, { readonly value: unknown; readonly untilMs: number }>();
  readonly #options: ExpiringCacheOptions;

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  /** True if nothing is kept. Entries that have expired may still count. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  get<T>(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.untilMs <= this.#options.nowMs()) return undefined;
    this.#entries.set(key, entry);
    return entry.value as T;
  }

  set<T>(key: string, value: T, lifeMs = this.#options.lifeMs): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: this.#options.nowMs() + lifeMs });
    if (this.#entries.size <= this.#options.maxEntries) return;
    const [oldestKey] = this.#entries.keys();
    if (oldestKey !== undefined) this.#entries.delete(oldestKey);
  }

  del(key: string): void {
    this.#entries.delete(key);
  }

  flushAll(): void {
    this.#entries.clear();
  }
}
