import { associatedDataOf, sealedOwner } from '../../associated-data.ts';
import type { CredentialCipher } from '../../credential-cipher.ts';
import type { SessionAddress } from '../../session-host.ts';
import type { SealedHash } from '../../worker-protocol.ts';

/** Seals and opens the values of one shop. A value opens only under its shop, its hash and its field. */
export class FieldCipher {
  readonly #shop: SessionAddress;
  readonly #cipher: CredentialCipher;

  constructor(shop: SessionAddress, ciphers: (shop: string) => CredentialCipher) {
    this.#shop = shop;
    this.#cipher = ciphers(sealedOwner(shop));
  }

  /** True if there is an older key, which may have sealed stored values. */
  get hasOlderKey(): boolean {
    return this.#cipher.hasOlderKey;
  }

  /** The first bytes of all values that the newest key sealed. */
  get head(): Uint8Array {
    return copyOf(this.#cipher.head);
  }

  /** Returns the sealed values. Undefined removes a field. */
  seal(
    hash: SealedHash,
    fields: ReadonlyMap<string, Buffer | undefined>,
  ): Map<string, Uint8Array | undefined> {
    const sealedValues = new Map<string, Uint8Array | undefined>();
    for (const [field, value] of fields) {
      const associatedData = associatedDataOf(this.#shop, hash, field);
      const sealedValue = value === undefined ? undefined : copyOf(this.#cipher.seal(associatedData, value));
      sealedValues.set(field, sealedValue);
    }
    return sealedValues;
  }

  /** @throws Unreadable when no key opens it. */
  open(hash: SealedHash, field: string, { buffer, byteOffset, byteLength }: Uint8Array): Buffer {
    const associatedData = associatedDataOf(this.#shop, hash, field);
    return this.#cipher.open(associatedData, Buffer.from(buffer, byteOffset, byteLength));
  }
}

/** Returns a copy with separate memory. A clone of a view clones its whole buffer, which other values may share. */
const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes);
