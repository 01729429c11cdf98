import { KnownFields } from './known-fields.ts';
import type { SealedCache } from './sealed-cache.ts';

/**
 * The values of one hash that a session knows without asking the store. It read or wrote them last, or it knows that
 * their fields are missing.
 */
export class KnownValues {
  readonly #cache: SealedCache;
  #prefix: string;
  /** Changes with every new write. */
  #version = 0;
  /** The fields that the hash may hold. Undefined until all were read once. */
  #fields: KnownFields | undefined;

  constructor(cache: SealedCache) {
    this.#cache = cache;
    this.#prefix = cache.newPrefix();
  }

  /** Returns a field's sealed value, null for none, or undefined if the store must be read. */
  find(field: string): Uint8Array | null | undefined {
    const cachedValue = this.#cache.get(this.#prefix + field);
    if (cachedValue !== undefined) return cachedValue;
    return this.#fields === undefined || this.#fields.mayHold(field) ? undefined : null;
  }

  /** Returns a function that keeps the store's answer. It keeps none if a field was written since. */
  keeper(): (values: ReadonlyMap<string, Uint8Array | null>) => void {
    const version = this.#version;
    return (values) => {
      if (version !== this.#version) return;
      for (const [field, value] of values) if (value !== null) this.#cache.set(this.#prefix + field, value);
    };
  }

  /** Notes a write. `clears`: it drops everything that was there before. */
  written(fields: ReadonlyMap<string, Uint8Array | undefined>, clears: boolean): void {
    this.#version += 1;
    if (clears) {
      this.#prefix = this.#cache.newPrefix();
      this.#fields = KnownFields.of([]);
    }
    for (const [field, value] of fields) {
      if (value === undefined) {
        this.#cache.delete(this.#prefix + field);
      } else {
        this.#cache.set(this.#prefix + field, value);
        this.#fields?.add(field);
      }
    }
  }

  /** The hash has these fields and no others. */
  setFields(fields: readonly string[]): void {
    this.#fields = KnownFields.of(fields);
  }
}
