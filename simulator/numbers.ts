import { createHash } from 'node:crypto';
import { type Addressing, lidAddress, parseUserAddress, phoneAddress } from './addresses.ts';
import type { Collection, Journal } from './journal.ts';

/** A phone number as the network knows it. */
export interface PhoneNumber {
  readonly phone: string;
  /** The network's own id of the user, 15 digits, the same for ever. */
  readonly lid: string;
  /** Whether the number is on the network. */
  readonly exists: boolean;
  /** It wrote under its LID alone, so its number is nothing that a client can know. */
  readonly isHidden?: boolean;
  /** LIDs that it had before. */
  readonly formerLids?: readonly string[];
  /** The number of which this one is another written form, and which queries answer; absent: it is none. */
  readonly formOf?: string;
}

/** One device of a number, as an address named it. Device 0 is the handset. */
export interface DeviceReference {
  readonly number: PhoneNumber;
  readonly device: number;
  readonly addressing: Addressing;
}

/** Every number that was declared, written to or asked about. A number that nobody declared exists. */
export class Numbers {
  readonly #numbers: Collection<PhoneNumber>;
  readonly #phoneByLid = new Map<string, string>();

  constructor(journal: Journal) {
    this.#numbers = journal.collection<PhoneNumber>('numbers');
    for (const [phone, number] of this.#numbers.entries()) {
      for (const lid of [number.lid, ...(number.formerLids ?? [])]) this.#phoneByLid.set(lid, phone);
    }
  }

  /** The number of those digits, known from now on. */
  of(phone: string): PhoneNumber {
    return this.#numbers.get(phone) ?? this.#keep({ phone, lid: this.#freeLid(phone), exists: true });
  }

  /** The number that whoever asks for these digits is told: itself, or the one it is another form of. */
  find(phone: string): PhoneNumber {
    const number = this.of(phone);
    return number.formOf === undefined ? number : this.of(number.formOf);
  }

  setExists(phone: string, exists: boolean): PhoneNumber {
    const { lid, isHidden = false, formerLids = [] } = this.of(phone);
    return this.#keep({ phone, lid, exists, isHidden, formerLids });
  }

  /** Gives the number a new LID; stanzas to the former ones are acknowledged and go nowhere. */
  changeLid(phone: string): PhoneNumber {
    const number = this.of(phone);
    const formerLids = [...(number.formerLids ?? []), number.lid];
    return this.#keep({ ...number, lid: this.#freeLid(phone), formerLids });
  }

  /** From now on nobody needs to know the number that is behind its LID. */
  hide(phone: string): void {
    const number = this.of(phone);
    if (number.isHidden !== true) this.#keep({ ...number, isHidden: true });
  }

  /** Whether an address is a LID that its number does not have any more. */
  isFormer(address: string): boolean {
    const parsed = parseUserAddress(address);
    const number = this.resolve(address)?.number;
    return parsed?.addressing === 'lid' && number?.formerLids?.includes(parsed.user) === true;
  }

  /** These digits lead to the number when they are asked for, and to nobody when they are written to. */
  addForm(phone: string, form: string): void {
    const { lid } = this.of(form);
    this.#keep({ phone: form, lid, exists: false, formOf: phone });
  }

  /** The device an address names, or undefined for a LID the network never gave out or for no user at all. */
  resolve(address: string | undefined): DeviceReference | undefined {
    const parsed = parseUserAddress(address);
    if (!parsed) return undefined;
    const phone = parsed.addressing === 'lid' ? this.#phoneByLid.get(parsed.user) : parsed.user;
    if (!phone) return undefined;
    return { number: this.of(phone), device: parsed.device, addressing: parsed.addressing };
  }

  #keep(number: PhoneNumber): PhoneNumber {
    this.#numbers.set(number.phone, number);
    this.#phoneByLid.set(number.lid, number.phone);
    return number;
  }

  #freeLid(phone: string): string {
    for (let attempt = 0; ; attempt++) {
      const digest = createHash('sha256').update(`${phone}/${attempt}`).digest();
      const lid = String(100_000_000_000_000n + (digest.readBigUInt64BE(0) % 900_000_000_000_000n));
      if (!this.#phoneByLid.has(lid)) return lid;
    }
  }
}

/** The address of one device of a number in the given way of addressing. */
export const addressOf = (number: PhoneNumber, addressing: Addressing, device = 0): string =>
  addressing === 'lid' ? lidAddress(number.lid, device) : phoneAddress(number.phone, device);
