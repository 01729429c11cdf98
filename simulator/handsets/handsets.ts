import { Curve, generateRegistrationId, type SignalCreds, signedKeyPair } from '@whiskeysockets/baileys';
import type { Collection, Journal } from '../journal.ts';
import { Handset } from './handset.ts';

/** The handsets of all numbers. Each is made when it is first needed, and then kept. */
export class Handsets {
  readonly #creds: Collection<SignalCreds>;
  readonly #keys: Collection<unknown>;
  readonly #handsets = new Map<string, Handset>();

  constructor(journal: Journal) {
    this.#creds = journal.collection<SignalCreds>('handsets');
    this.#keys = journal.collection<unknown>('handset-keys');
  }

  handsetOf(phone: string): Handset {
    let handset = this.#handsets.get(phone);
    if (!handset) {
      handset = new Handset({ phone, creds: this.#credsOf(phone), keys: this.#keys });
      this.#handsets.set(phone, handset);
    }
    return handset;
  }

  /** Sets the phone up again: it has another identity, and no session or key of a group. */
  renew(phone: string): void {
    this.#handsets.delete(phone);
    this.#creds.delete(phone);
    for (const [key] of [...this.#keys.entries()]) if (key.startsWith(`${phone} `)) this.#keys.delete(key);
  }

  #credsOf(phone: string): SignalCreds {
    let creds = this.#creds.get(phone);
    if (!creds) {
      const signedIdentityKey = Curve.generateKeyPair();
      creds = {
        signedIdentityKey,
        signedPreKey: signedKeyPair(signedIdentityKey, 1),
        registrationId: generateRegistrationId(),
      };
      this.#creds.set(phone, creds);
    }
    return creds;
  }
}
