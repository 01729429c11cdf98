import type { ExpiringCache } from '../session/expiring-cache.ts';
import type { SealedStore } from '../store/sealed-store.ts';

const HASH = 'credentials';
const fieldOf = (wireId: string): string => `wire-alias/${wireId}`;

/**
 * The wire ids that orders had, by those under which their messages went to another address. They are stored, so that what
 * recipients say of such a message finds it after a restart as well. Hardly ever is there one: a lookup asks the store only
 * until the session knows which fields there are.
 */
export class WireAliases {
  readonly #memory: ExpiringCache;
  readonly #sealed: Pick<SealedStore, 'find' | 'write'>;

  constructor(memory: ExpiringCache, sealed: Pick<SealedStore, 'find' | 'write'>) {
    this.#memory = memory;
    this.#sealed = sealed;
  }

  /** Resolves when it stands in the store. */
  set(wireId: string, orderedAs: string): Promise<void> {
    this.#memory.set(wireId, orderedAs);
    return this.#sealed.write({ hash: HASH, fields: new Map([[fieldOf(wireId), Buffer.from(orderedAs)]]) });
  }

  /** The wire id that the order was given with: the same one, in nearly all cases. */
  async orderedAs(wireId: string): Promise<string> {
    const known = this.#memory.get<string>(wireId);
    if (known !== undefined) return known;
    const stored = await this.#sealed.find(HASH, fieldOf(wireId));
    return stored === undefined ? wireId : stored.toString();
  }
}
