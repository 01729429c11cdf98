import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { CredentialCipher } from '../../credential-cipher.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SessionAddress } from '../../session-host.ts';
import type { SealedChange, SealedHash, StoreAnswer, StoreRequest } from '../../worker-protocol.ts';
import { FieldCipher } from './field-cipher.ts';
import { KnownValues } from './known-values.ts';
import { PendingChange } from './pending-change.ts';
import { resealHash } from './reseal-hash.ts';
import type { SealedCache } from './sealed-cache.ts';
import { WriteOrder } from './write-order.ts';

/** Sends a request to the main thread's store. */
export type AskStore = (shop: SessionAddress, request: StoreRequest) => Promise<StoreAnswer>;

/** Fields to change in one fenced write; `undefined` removes one. */
export interface FieldChange {
  readonly hash: SealedHash;
  readonly fields: ReadonlyMap<string, Buffer | undefined>;
  /** Drops everything that was there before. */
  readonly clears?: boolean;
  /** The expiry of the whole hash, milliseconds since the Unix epoch. If undefined, it is unchanged. */
  readonly expiresAtMs?: number | undefined;
}

/**
 * Stores changes in another way, in one commit. Resolves when they are stored; rejects when none of them ever will be.
 */
export type Carry = (changes: readonly SealedChange[]) => Promise<void>;

interface SealedStoreOptions {
  readonly shop: SessionAddress;
  readonly ciphers: (shop: string) => CredentialCipher;
  readonly cache: SealedCache;
  readonly ask: AskStore;
  readonly after: (delayMs: number, act: () => void) => ArmedTimer;
  /** Called once, at the first failure: the session must end. */
  readonly onFailure: (error: Error) => void;
  /** Called with each field of `credentials` that is read or written. */
  readonly onUsed: (field: string) => void;
}

/**
 * One shop's sealed hashes as its worker sees them. Reads see a change at once, before it is stored. They see a change
 * of `carry` once it is stored. A read asks the main thread only if no waiting change has the field, it was not read or
 * written last, and it may exist.
 *
 * After one failed read or write all fail. The client takes a session that it could not read for a missing one, and
 * would overwrite it. And a ratchet with a gap must not continue.
 */
export class SealedStore {
  readonly #options: SealedStoreOptions;
  readonly #cipher: FieldCipher;
  /** The known values of `credentials`. Other hashes are hardly ever read. */
  readonly #known: KnownValues;
  readonly #writes: WriteOrder;
  #failure: Error | undefined;

  constructor(options: SealedStoreOptions) {
    this.#options = options;
    this.#cipher = new FieldCipher(options.shop, options.ciphers);
    this.#known = new KnownValues(options.cache);
    this.#writes = new WriteOrder({ after: options.after, put: (change) => this.#put(change) });
  }

  /** Returns the opened values in order, undefined for missing ones. Rejects with `Unreadable`. */
  async read(hash: SealedHash, fields: readonly string[]): Promise<(Buffer | undefined)[]> {
    if (hash === 'credentials') for (const field of fields) this.#options.onUsed(field);
    return this.#guarded(async () => {
      const knownValues = new Map(fields.map((field) => [field, this.#knownValue(hash, field)]));
      const missingFields = [...knownValues].flatMap(([field, value]) =>
        value === undefined ? [field] : [],
      );
      const answer = missingFields.length === 0 ? undefined : await this.#askFor(hash, missingFields);
      return fields.map((field) => {
        const value = knownValues.get(field) ?? answer?.get(field);
        if (value == null) return undefined;
        return this.#options.cache.openOnce(value, () => this.#cipher.open(hash, field, value));
      });
    });
  }

  /**
   * Returns the opened value of a field, which then counts as used. Undefined if it is missing or no key opens it. For
   * values that a session can do without.
   */
  async find(hash: SealedHash, field: string): Promise<Buffer | undefined> {
    return this.#guarded(async () => {
      const knownValue = this.#knownValue(hash, field);
      const value = knownValue === undefined ? (await this.#askFor(hash, [field])).get(field) : knownValue;
      if (value == null) return undefined;
      // Only a value that exists: missing ones would fill the filter of used fields.
      if (hash === 'credentials') this.#options.onUsed(field);
      try {
        return this.#cipher.open(hash, field, value);
      } catch {
        return undefined;
      }
    });
  }

  /** Resolves when the change is stored. */
  write(change: FieldChange): Promise<void> {
    const { hash, clears = false, expiresAtMs } = change;
    const fields = this.#cipher.seal(hash, change.fields);
    if (fields.size === 0 && !clears) {
      this.#writes.flush();
      return this.#writes.allWritten;
    }
    const write = this.#writes.next();
    write.change.add(hash, { fields, clears, expiresAtMs });
    this.#remember(hash, fields, clears);
    write.flush();
    return write.written;
  }

  /**
   * Writes changes that may be lost, together with the next write, or alone after a while. They can be read at once. A
   * write that fails closes the store like any other.
   */
  writeLater({ hash, fields }: Omit<FieldChange, 'clears'>): void {
    const sealedChange = this.#cipher.seal(hash, fields);
    if (sealedChange.size === 0) return;
    this.#writes.next().change.add(hash, { fields: sealedChange });
    this.#remember(hash, sealedChange, false);
  }

  /**
   * Lets `carry` store the change, at its position in the order of writes, together with all waiting changes. Resolves
   * when it is stored. If `carry` rejects, this does too; the change is dropped, and the rest is written without it.
   */
  carry(change: FieldChange, carry: Carry): Promise<void> {
    const fields = this.#cipher.seal(change.hash, change.fields);
    const write = this.#writes.next();
    // One commit carries one change; later changes come after it.
    this.#writes.close();
    return new Promise((resolve, reject) => {
      write.carrier = async () => {
        const combinedChange = new PendingChange();
        combinedChange.addAll(write.change);
        combinedChange.add(change.hash, { fields, clears: change.clears });
        try {
          if (this.#failure !== undefined) throw this.#failure;
          await carry(combinedChange.changes());
        } catch (error) {
          reject(error);
          if (!write.change.isEmpty()) await this.#put(write.change);
          return;
        }
        this.#remember(change.hash, fields, change.clears ?? false);
        resolve();
      };
    });
  }

  /** Closes the store permanently, for example if a value opens and makes no sense. Returns the first failure. */
  fail(cause: unknown): Error {
    const isFirst = this.#failure === undefined;
    this.#failure ??= cause instanceof Error ? cause : new Error(String(cause));
    if (isFirst) this.#options.onFailure(this.#failure);
    return this.#failure;
  }

  /** Resolves when every write so far has a reply, of any kind. */
  async drain(): Promise<void> {
    await this.#writes.drain();
  }

  /**
   * Reads a hash once and notes which fields it has. If there is an older key, every value that it sealed is sealed
   * again, so that the old key can be removed. Otherwise only the names are read.
   *
   * If it fails the values stay readable with the older key, and the next connection tries again. Resolves with the
   * names.
   */
  async reseal(hash: SealedHash): Promise<readonly string[]> {
    // Waiting changes are stored before, so that this reads all that is stored. Later ones never meet an older value.
    return await this.#writes.inOrder(async () => {
      const names = this.#cipher.hasOlderKey
        ? await resealHash(hash, {
            cipher: this.#cipher,
            survey: (request) => this.#answer('surveyed', request),
            put: (change) => this.#put(change),
          })
        : (await this.#answer('surveyed', { kind: 'names', hash })).fields;
      // Changes that came since wait for this.
      const fieldsSince = this.#writes.fieldsOf(hash);
      if (hash === 'credentials') this.#known.setFields([...names, ...fieldsSince]);
      return names;
    });
  }

  /** Returns a field's sealed value, null for none, or undefined if the store must be read. */
  #knownValue(hash: SealedHash, field: string): Uint8Array | null | undefined {
    const waitingValue = this.#writes.find(hash, field);
    if (waitingValue !== undefined) return waitingValue;
    return hash === 'credentials' ? this.#known.find(field) : undefined;
  }

  async #askFor(hash: SealedHash, fields: readonly string[]): Promise<Map<string, Uint8Array | null>> {
    const keep = this.#known.keeper();
    const { values } = await this.#answer('values', { kind: 'read', hash, fields });
    const valuesFound = new Map(fields.map((field, index) => [field, values[index] ?? null]));
    if (hash === 'credentials') keep(valuesFound);
    return valuesFound;
  }

  #remember(hash: SealedHash, fields: ReadonlyMap<string, Uint8Array | undefined>, clears: boolean): void {
    if (hash !== 'credentials') return;
    for (const [field, value] of fields) if (value !== undefined) this.#options.onUsed(field);
    this.#known.written(fields, clears);
  }

  #put(change: PendingChange): Promise<void> {
    return this.#guarded(async () => {
      await this.#answer('done', { kind: 'write', changes: change.changes() });
    });
  }

  /** Resolves with the store's answer. Rejects if it is of another kind. */
  async #answer<Kind extends StoreAnswer['kind']>(
    kind: Kind,
    request: StoreRequest,
  ): Promise<Extract<StoreAnswer, { kind: Kind }>> {
    const answer = await this.#options.ask(this.#options.shop, request);
    if (answer.kind === kind) return answer as Extract<StoreAnswer, { kind: Kind }>;
    throw new NoAnswer(answer.kind === 'failed' ? answer.message : `the store did not answer "${kind}"`);
  }

  async #guarded<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (error) {
      throw this.fail(error);
    }
  }
}
