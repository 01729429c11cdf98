import type { SealedChange, SealedHash } from '../../worker-protocol.ts';

interface HashChange {
  clears: boolean;
  /** By field; undefined removes it. */
  readonly fields: Map<string, Uint8Array | undefined>;
  expiresAtMs: number | undefined;
}

/** A change of one sealed hash. */
interface AddedChange {
  readonly fields: ReadonlyMap<string, Uint8Array | undefined>;
  /** Drops everything that was there before. */
  readonly clears?: boolean | undefined;
  readonly expiresAtMs?: number | undefined;
}

/** Changes of a shop's sealed hashes for one write. Later changes of a field replace earlier ones. */
export class PendingChange {
  readonly #hashes = new Map<SealedHash, HashChange>();

  add(hash: SealedHash, { fields, clears, expiresAtMs }: AddedChange): void {
    const change = this.#hashes.get(hash) ?? { clears: false, fields: new Map(), expiresAtMs: undefined };
    this.#hashes.set(hash, change);
    change.expiresAtMs = expiresAtMs ?? change.expiresAtMs;
    if (clears === true) {
      change.clears = true;
      change.fields.clear();
    }
    for (const [field, value] of fields) change.fields.set(field, value);
  }

  /** Adds another change, which replaces earlier values. */
  addAll(laterChange: PendingChange): void {
    for (const [hash, change] of laterChange.#hashes) this.add(hash, change);
  }

  isEmpty(): boolean {
    return this.#hashes.size === 0;
  }

  /** Returns the value of that field after this is written: null for none, undefined if it stays as it is. */
  find(hash: SealedHash, field: string): Uint8Array | null | undefined {
    const change = this.#hashes.get(hash);
    if (change === undefined) return undefined;
    if (change.fields.has(field)) return change.fields.get(field) ?? null;
    return change.clears ? null : undefined;
  }

  fieldsOf(hash: SealedHash): Iterable<string> {
    return this.#hashes.get(hash)?.fields.keys() ?? [];
  }

  /** Returns the changes in the form that crosses to the main thread. */
  changes(): SealedChange[] {
    return [...this.#hashes].map(([hash, { clears, fields, expiresAtMs }]) => ({
      hash,
      clears,
      set: [...fields].flatMap(([field, value]) => (value === undefined ? [] : [[field, value] as const])),
      remove: [...fields].flatMap(([field, value]) => (value === undefined ? [field] : [])),
      ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    }));
  }
}
