import type { ExpiringCache } from '../shared/expiring-cache.ts';
import type { SealedStore } from '../store/sealed-store.ts';

const HASH = 'credentials';
const fieldOf = (wireId: string): string => `wire-alias/${wireId}`;

/**
 * Maps the wire ids of messages that went to another address to the wire ids of their orders. They are stored, so that
 * receipts of such a message find it after a restart as well. There is hardly ever one. Once the session knows all its
 * fields, hardly any lookup reads the store.
 */
export class ReaddressedIds {
  readonly #memory: ExpiringCache;
  readonly #sealed: Pick<SealedStore, 'find' | 'write'>;

  constructor(memory: ExpiringCache, sealedStore: Pick<SealedStore, 'find' | 'write'>) {
    this.#memory = memory;
    this.#sealed = sealedStore;
  }

  /** Resolves when it is stored. */
  set(wireId: string, orderedAs: string): Promise<void> {
    this.#memory.set(wireId, orderedAs);
    return this.#sealed.write({ hash: HASH, fields: new Map([[fieldOf(wireId), Buffer.from(orderedAs)]]) });
  }

  /** The wire id that the order was given with: the same one, in nearly all cases. */
  async orderedAs(wireId: string): Promise<string> {
    const knownId = this.#memory.get<string>(wireId);
    if (knownId !== undefined) return knownId;
    const storedId = await this.#sealed.find(HASH, fieldOf(wireId));
    return storedId === undefined ? wireId : storedId.toString();
  }
}
