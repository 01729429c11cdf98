import { LRUCache } from 'lru-cache';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Store } from '../../runtime/store.ts';

const CACHED_KEYS = 100_000;
/** How long a key may take from its entry here to its commit. It is far longer than any commit takes. */
const UNCOMMITTED_SECONDS = 3_600;

/**
 * Finds the tenant of a key on any node, and so the owner that authenticates the call. The mapping of a hash never
 * changes, so a found one is cached. A missing one is read again each time, since the key may be made at any moment.
 */
export class KeyIndex {
  readonly #store: Store;
  readonly #found = new LRUCache<string, string>({ max: CACHED_KEYS });

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns undefined if there is no such key. */
  tenantOfKey(keyHash: string): MaybePromise<string | undefined> {
    return this.#found.get(keyHash) ?? this.#read(keyHash);
  }

  /**
   * Stores the tenant of a new key for an hour. This happens before the key is committed, so that a committed key is
   * always found. If the key is refused or its node is killed, the entry expires.
   */
  async name(keyHash: string, tenantId: string): Promise<void> {
    await this.#store.append([['SET', indexKey(keyHash), tenantId, 'EX', UNCOMMITTED_SECONDS]]);
  }

  /**
   * Stores it permanently, once the key is committed. Returns false if the entry was removed, because its tenant was
   * erased.
   */
  async keep(keyHash: string): Promise<boolean> {
    const [persisted] = await this.#store.append([['PERSIST', indexKey(keyHash)]]);
    return persisted === 1;
  }

  /** Removes hashes that are to lead to no tenant any more. */
  async forget(keyHashes: readonly string[]): Promise<void> {
    for (const keyHash of keyHashes) this.#found.delete(keyHash);
    await this.#store.append(keyHashes.map((keyHash) => ['DEL', indexKey(keyHash)]));
  }

  async #read(keyHash: string): Promise<string | undefined> {
    const [tenantId] = await this.#store.read([['GET', indexKey(keyHash)]]);
    if (typeof tenantId !== 'string') return undefined;
    this.#found.set(keyHash, tenantId);
    return tenantId;
  }
}

function indexKey(keyHash: string): string {
  return `api-key:${keyHash}`;
}
