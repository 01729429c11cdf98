import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { CredentialCipher } from '../../credential-cipher.ts';
import { NoAnswer } from '../../no-answer.ts';
import type { SessionAddress } from '../../session-host.ts';
import { LONGEST_COMPOSING_MS } from '../../session-timing.ts';
import type { SealedChange, SealedHash, StoreAnswer, StoreRequest } from '../../worker-protocol.ts';
import { FieldCipher } from './field-cipher.ts';
import { KnownValues } from './known-values.ts';
import { PendingChange } from './pending-change.ts';
import type { SealedCache } from './sealed-cache.ts';

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
 * How long a change that may be lost waits for another write, in milliseconds. It is the gap between two messages of a
 * shop (at most 20 s), composing, and a margin. So changes after a message go into the commit of the next one.
 */
const LONGEST_WAIT_MS = 20_000 + LONGEST_COMPOSING_MS + 2_500;

/** Changes that wait for their write, and the promise of it. */
interface Batch {
  readonly change: PendingChange;
  /** It is written once those before it are, and no longer waits for other changes. */
  flush(): void;
  /** Stores the change together with its own. The store then does not write it. */
  carrier: (() => Promise<void>) | undefined;
  readonly written: Promise<void>;
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
 * One shop's sealed hashes as its worker sees them. One write is under way at a time. Changes that arrive meanwhile, or
 * in the same tick of the event loop, go into the next write together, in their order. Reads see every change at once.
 * They are answered here if possible. The answer is a waiting change, a value read or written last, or that the field
 * is known to be missing.
 *
 * After one failed read or write all fail. The client takes a session that it could not read for a missing one, and
 * would overwrite it. And a ratchet with a gap must not continue.
 */
export class SealedStore {
  readonly #options: SealedStoreOptions;
  readonly #cipher: FieldCipher;
  /** The known values of `credentials`. Other hashes are hardly ever read. */
  readonly #known: KnownValues;
  #tail: Promise<void> = Promise.resolve();
  /** The next write. New changes join it. */
  #next: Batch | undefined;
  /** Writes without a reply, oldest first. */
  readonly #unanswered = new Set<PendingChange>();
  #failure: Error | undefined;

  constructor(options: SealedStoreOptions) {
    this.#options = options;
    this.#cipher = new FieldCipher(options.shop, options.ciphers);
    this.#known = new KnownValues(options.cache);
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
      this.#next?.flush();
      return this.#next?.written ?? this.#tail;
    }
    const batch = this.#batch();
    batch.change.add(hash, { fields, clears, expiresAtMs });
    this.#remember(hash, fields, clears);
    batch.flush();
    return batch.written;
  }

  /**
   * Writes changes that may be lost, together with the next write, or alone after a while. They can be read at once. A
   * write that fails closes the store like any other.
   */
  writeLater({ hash, fields }: Omit<FieldChange, 'clears'>): void {
    const sealedChange = this.#cipher.seal(hash, fields);
    if (sealedChange.size === 0) return;
    this.#batch().change.add(hash, { fields: sealedChange });
    this.#remember(hash, sealedChange, false);
  }

  /**
   * Lets `carry` store the change, at its position in the order of writes, together with all waiting changes. Resolves
   * when it is stored. If `carry` rejects, this does too; the change is dropped, and the rest is written without it.
   */
  carry(change: FieldChange, carry: Carry): Promise<void> {
    const fields = this.#cipher.seal(change.hash, change.fields);
    const batch = this.#batch();
    batch.flush();
    // One commit carries one change; later changes come after it.
    this.#next = undefined;
    return new Promise((resolve, reject) => {
      batch.carrier = async () => {
        const combinedChange = new PendingChange();
        combinedChange.addAll(batch.change);
        combinedChange.add(change.hash, { fields, clears: change.clears });
        try {
          if (this.#failure !== undefined) throw this.#failure;
          await carry(combinedChange.changes());
        } catch (error) {
          reject(error);
          if (!batch.change.isEmpty()) await this.#put(batch.change);
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
    this.#next?.flush();
    await this.#tail.catch(() => undefined);
  }

  /**
   * Reads a hash once and notes its Signal keys. If there is an older key, every value that it sealed is sealed again,
   * so that the old key can be removed. Otherwise only the names are read.
   *
   * If it fails the values stay readable with the older key, and the next connection tries again. Resolves with the
   * names.
   */
  async reseal(hash: SealedHash): Promise<readonly string[]> {
    // Waiting changes go first and accept no others, so that this reads the stored state.
    this.#next?.flush();
    this.#next = undefined;
    const pass = this.#tail.then(async () => {
      const names = this.#cipher.hasOlderKey
        ? await this.#resealAll(hash)
        : (await this.#answer('surveyed', { kind: 'names', hash })).fields;
      // Changes that came since wait for this.
      const fieldsSince = [...this.#unanswered].flatMap((change) => [...change.fieldsOf(hash)]);
      if (hash === 'credentials') this.#known.setFields([...names, ...fieldsSince]);
      return names;
    });
    // It waits in the order of writes, so that it never puts an older value over a newer one.
    this.#tail = pass.then(
      () => undefined,
      () => undefined,
    );
    return await pass;
  }

  /** Resolves with the names of all fields. */
  async #resealAll(hash: SealedHash): Promise<readonly string[]> {
    const { head } = this.#cipher;
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const part = await this.#answer('surveyed', { kind: 'survey', hash, head, from: cursor });
      const values = part.others.map(
        ([field, value]) => [field, this.#cipher.open(hash, field, value)] as const,
      );
      names.push(...part.fields);
      cursor = part.next;
      if (values.length === 0) continue;
      const change = new PendingChange();
      change.add(hash, { fields: this.#cipher.seal(hash, new Map(values)) });
      await this.#put(change);
    } while (cursor !== undefined);
    return names;
  }

  /** Returns a field's sealed value, null for none, or undefined if the store must be read. */
  #knownValue(hash: SealedHash, field: string): Uint8Array | null | undefined {
    for (const change of [...this.#unanswered].reverse()) {
      const waitingValue = change.find(hash, field);
      if (waitingValue !== undefined) return waitingValue;
    }
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

  /** Returns the batch of the next write, made now if there is none. */
  #batch(): Batch {
    if (this.#next !== undefined) return this.#next;
    const change = new PendingChange();
    this.#unanswered.add(change);
    let flush: () => void = () => undefined;
    const delay = new Promise<void>((resolve) => {
      const timer = this.#options.after(LONGEST_WAIT_MS, resolve);
      flush = () => {
        timer.cancel();
        resolve();
      };
    });
    const write = this.#tail
      .then(() => delay)
      .then(nextTurn)
      .then(() => {
        if (this.#next === batch) this.#next = undefined;
        return batch.carrier === undefined ? this.#put(change) : batch.carrier();
      });
    this.#tail = write.finally(() => this.#unanswered.delete(change));
    // The callers get a failure; the chain's own copies must not count as unhandled.
    this.#tail.catch(() => undefined);
    write.catch(() => undefined);
    const batch: Batch = { change, flush, carrier: undefined, written: write };
    this.#next = batch;
    return batch;
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

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (error) {
      throw this.fail(error);
    }
  }
}

/** All changes of one tick of the event loop are written together. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
