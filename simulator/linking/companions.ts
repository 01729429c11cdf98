import type { Collection, Journal } from '../journal.ts';
import type { PhoneNumber } from '../numbers.ts';
import type { KeyBundle, PublicPreKey, SignedPublicKey } from '../queries/key-bundle.ts';
import { type Addressing, lidAddress, phoneAddress } from '../socket/addresses.ts';

/** A linked device: the identity a client holds after pairing. */
export interface Companion {
  /** `phone:device`. */
  readonly id: string;
  readonly phone: string;
  readonly lid: string;
  /** 1 and up, never used again for the number. */
  readonly device: number;
  /** The client's Noise key, base64. The client logs in with it. */
  readonly noiseKey: string;
  readonly identityKey: Uint8Array;
  readonly registrationId: number;
  readonly signedPreKey: SignedPublicKey;
  /** ISO 8601. */
  readonly linkedAt: string;
}

/** The most one-time keys that are kept for a companion. A new one removes the oldest. */
const MOST_PRE_KEYS = 2_000;

/** A phone links at most this many companions (as on the real network). */
export const MOST_COMPANIONS = 4;

/** The linked devices of all numbers and their one-time keys. */
export class Companions {
  readonly #journal: Journal;
  readonly #companions: Collection<Companion>;
  readonly #lastDevice: Collection<number>;
  readonly #historyDue: Collection<true>;
  readonly #byPhone = new Map<string, Map<number, Companion>>();

  constructor(journal: Journal) {
    this.#journal = journal;
    this.#companions = journal.collection<Companion>('companions');
    this.#lastDevice = journal.collection<number>('last-device');
    this.#historyDue = journal.collection<true>('history-due');
    for (const [, companion] of this.#companions.entries()) this.#index(companion);
    this.#moveFormerPreKeys();
  }

  /** Until 0.2.0 all keys were in one collection, under the companion's id and the key's. */
  #moveFormerPreKeys(): void {
    const former = this.#journal.collection<PublicPreKey>('pre-keys');
    for (const [key, preKey] of former.entries()) {
      this.#preKeysOf(key.slice(0, key.indexOf(' '))).set(String(preKey.id), preKey);
      former.delete(key);
    }
  }

  get(phone: string, device: number): Companion | undefined {
    return this.#byPhone.get(phone)?.get(device);
  }

  /** Returns the companions of a number, oldest first. */
  of(phone: string): Companion[] {
    return [...(this.#byPhone.get(phone)?.values() ?? [])];
  }

  all(): Companion[] {
    return [...this.#companions.entries()].map(([, companion]) => companion);
  }

  /**
   * Returns a device id for the next companion of a number. Each call gives another id, also during two scans at once.
   */
  takeDevice(phone: string): number {
    const device = (this.#lastDevice.get(phone) ?? 0) + 1;
    this.#lastDevice.set(phone, device);
    return device;
  }

  add(companion: Companion): void {
    this.#companions.set(companion.id, companion);
    this.#historyDue.set(companion.id, true);
    this.#index(companion);
  }

  /** True if the companion has not got its history yet. Only the first call returns true. */
  takeHistoryDue(companion: Companion): boolean {
    const isDue = this.#historyDue.get(companion.id) ?? false;
    this.#historyDue.delete(companion.id);
    return isDue;
  }

  remove(companion: Companion): void {
    this.#companions.delete(companion.id);
    this.#historyDue.delete(companion.id);
    this.#byPhone.get(companion.phone)?.delete(companion.device);
    const preKeys = this.#preKeysOf(companion.id);
    for (const [id] of preKeys.entries()) preKeys.delete(id);
  }

  /** Replaces the companion's signed key, because the client rotates it. */
  setSignedPreKey(companion: Companion, signedPreKey: SignedPublicKey): void {
    const changedCompanion = { ...companion, signedPreKey };
    this.#companions.set(companion.id, changedCompanion);
    this.#index(changedCompanion);
  }

  addPreKeys(companion: Companion, preKeys: readonly PublicPreKey[]): void {
    const stored = this.#preKeysOf(companion.id);
    for (const preKey of preKeys) stored.set(String(preKey.id), preKey);
    while (stored.size > MOST_PRE_KEYS) this.#takePreKey(companion.id);
  }

  preKeyCount(companion: Companion): number {
    return this.#preKeysOf(companion.id).size;
  }

  /** Returns the one-time keys that are left, oldest first. */
  preKeys(companion: Companion): PublicPreKey[] {
    return [...this.#preKeysOf(companion.id).entries()].map(([, preKey]) => preKey);
  }

  /**
   * Returns the keys to open a session with the companion. Each one-time key is given out once. When all are used, the
   * bundle has none.
   */
  bundle(companion: Companion): KeyBundle {
    const { registrationId, identityKey, signedPreKey } =
      this.get(companion.phone, companion.device) ?? companion;
    return { registrationId, identityKey, signedPreKey, preKey: this.#takePreKey(companion.id) };
  }

  #takePreKey(companionId: string): PublicPreKey | undefined {
    const preKeys = this.#preKeysOf(companionId);
    for (const [id, preKey] of preKeys.entries()) {
      preKeys.delete(id);
      return preKey;
    }
    return undefined;
  }

  #index(companion: Companion): void {
    const devices = this.#byPhone.get(companion.phone) ?? new Map<number, Companion>();
    this.#byPhone.set(companion.phone, devices.set(companion.device, companion));
  }

  /**
   * The one-time keys by their ids, oldest first. Each companion has a collection of its own. One of all keys would
   * have millions, and the event loop would stand still for seconds whenever it grows.
   */
  #preKeysOf(companionId: string): Collection<PublicPreKey> {
    return this.#journal.collection<PublicPreKey>(`pre-keys ${companionId}`);
  }
}

/** Returns the address under which handsets keep their session with a companion. */
export const sessionAddress = (companion: Companion): string =>
  phoneAddress(companion.phone, companion.device);

/** Returns the companion's address in the given way of addressing. */
export const companionAddress = (companion: Companion, addressing: Addressing): string =>
  addressing === 'lid' ? lidAddress(companion.lid, companion.device) : sessionAddress(companion);

/** Returns the number of a companion, with the fields that addresses need. */
export const numberOf = (companion: Companion): PhoneNumber => ({
  phone: companion.phone,
  lid: companion.lid,
  exists: true,
});
