import type { CredentialCipher } from '../credential-cipher.ts';
import type { SessionAddress } from '../session-host.ts';
import type { SealedChange, SealedHash, StoreAnswer, StoreRequest } from '../worker-protocol.ts';

/** Asks the main thread's store; rejects when it could not answer. */
export type AskStore = (shop: SessionAddress, request: StoreRequest) => Promise<StoreAnswer>;

/** Fields to change in one fenced write; `undefined` removes one. */
export interface FieldChange {
  readonly hash: SealedHash;
  readonly fields: ReadonlyMap<string, Buffer | undefined>;
  /** Drops everything that was there before. */
  readonly clear?: boolean;
}

/**
 * One shop's sealed hashes as its worker sees them. Writes go out one after the other, each awaited, in the order in
 * which they were asked for. After one read or write failed all fail: the client takes a session it could not read
 * for one that is not there and would put a new one over it, and a ratchet with a gap must not go on.
 */
export class SealedStore {
  readonly #shop: SessionAddress;
  readonly #cipher: CredentialCipher;
  readonly #ask: AskStore;
  readonly #onFailure: (error: Error) => void;
  #tail: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(options: {
    shop: SessionAddress;
    cipher: CredentialCipher;
    ask: AskStore;
    /** Told once, at the first failure: the session must end. */
    onFailure: (error: Error) => void;
  }) {
    this.#shop = options.shop;
    this.#cipher = options.cipher;
    this.#ask = options.ask;
    this.#onFailure = options.onFailure;
  }

  /** The opened values in the order asked, undefined for those that are missing. Rejects with `Unreadable`. */
  async read(hash: SealedHash, fields: readonly string[]): Promise<(Buffer | undefined)[]> {
    if (fields.length === 0) return [];
    return this.#guarded(async () => {
      const values = valuesOf(await this.#ask(this.#shop, { kind: 'read', hash, fields }));
      return fields.map((field, index) => {
        const value = values[index];
        return value == null ? undefined : this.#cipher.open(this.#place(hash, field), asBuffer(value));
      });
    });
  }

  /** Resolves when the change stands in the store. */
  write(change: FieldChange): Promise<void> {
    const set: (readonly [string, Uint8Array])[] = [];
    const remove: string[] = [];
    for (const [field, value] of change.fields) {
      if (value === undefined) remove.push(field);
      else set.push([field, alone(this.#cipher.seal(this.#place(change.hash, field), value))]);
    }
    if (set.length === 0 && remove.length === 0 && change.clear !== true) return this.#tail;
    return this.#enqueue({ hash: change.hash, clear: change.clear ?? false, set, remove });
  }

  /** Closes the store for good, as when a value opens and makes no sense. Gives back the first failure. */
  fail(cause: unknown): Error {
    const isFirst = this.#failure === undefined;
    this.#failure ??= cause instanceof Error ? cause : new Error(String(cause));
    if (isFirst) this.#onFailure(this.#failure);
    return this.#failure;
  }

  /** Resolves when every write asked for so far has been answered, whatever the answer. */
  async drained(): Promise<void> {
    await this.#tail.catch(() => undefined);
  }

  /** Seals every value anew that an older key sealed, so that the old key can be taken away. */
  async reseal(hash: SealedHash): Promise<void> {
    const pass = this.#tail.then(async () => {
      const pairs = valuesOf(await this.#ask(this.#shop, { kind: 'read', hash, fields: undefined }));
      const set: (readonly [string, Uint8Array])[] = [];
      for (let index = 0; index + 1 < pairs.length; index += 2) {
        const field = Buffer.from(pairs[index] ?? []).toString();
        const sealed = asBuffer(pairs[index + 1] ?? new Uint8Array());
        if (this.#cipher.isCurrent(sealed)) continue;
        const place = this.#place(hash, field);
        set.push([field, alone(this.#cipher.seal(place, this.#cipher.open(place, sealed)))]);
      }
      if (set.length > 0) await this.#put({ hash, clear: false, set, remove: [] });
    });
    // It stands in the line of writes, so that it never puts an older value over a newer one.
    this.#tail = pass.catch(() => undefined);
    await pass;
  }

  #enqueue(change: SealedChange): Promise<void> {
    this.#tail = this.#tail.then(() => this.#put(change));
    // The caller hears of a failure; the chain's own copy must not count as unhandled.
    this.#tail.catch(() => undefined);
    return this.#tail;
  }

  #put(change: SealedChange): Promise<void> {
    return this.#guarded(async () => {
      const answer = await this.#ask(this.#shop, { kind: 'write', change });
      if (answer.kind === 'failed') throw new Error(answer.message);
    });
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (error) {
      throw this.fail(error);
    }
  }

  #place(hash: SealedHash, field: string): string {
    return `${this.#shop.tenantId}/${this.#shop.shopId}/${hash}/${field}`;
  }
}

function valuesOf(answer: StoreAnswer): readonly (Uint8Array | null)[] {
  if (answer.kind === 'values') return answer.values;
  throw new Error(answer.kind === 'failed' ? answer.message : 'the store gave no values');
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A copy with memory of its own: cloning a view clones all of what it looks into, the pool's other tenants included. */
function alone(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
