import { createHash } from 'node:crypto';
import type { Collection, Journal } from './journal.ts';
import { type Addressing, lidAddress, parseUserAddress, phoneAddress } from './socket/addresses.ts';

/** A phone number as the network knows it. */
export interface PhoneNumber {
  readonly phone: string;
  /** The network's own id of the user, 15 digits. It stays the same until `changeLid`. */
  readonly lid: string;
  /** True if the number is on the network. */
  readonly exists: boolean;
  /** True if it wrote under its LID alone, so no client can know its number. */
  readonly isHidden?: boolean;
  /** The name of its account, which is no business then. Absent: a business, whose clients get its name when linked. */
  readonly accountName?: string;
  /** Its earlier LIDs. */
  readonly formerLids?: readonly string[];
  /** The number that queries return for this other written form of it. Absent if this is not another form. */
  readonly formOf?: string;
}

/** One device of a number, as an address named it. Device 0 is the handset. */
export interface DeviceReference {
  readonly number: PhoneNumber;
  readonly device: number;
  readonly addressing: Addressing;
}

/** Every number that was declared, written to or asked about. A number that was never declared exists. */
export class Numbers {
  readonly #numbers: Collection<PhoneNumber>;
  readonly #phoneByLid = new Map<string, string>();

  constructor(journal: Journal) {
    this.#numbers = journal.collection<PhoneNumber>('numbers');
    for (const [phone, number] of this.#numbers.entries()) {
      for (const lid of [number.lid, ...(number.formerLids ?? [])]) this.#phoneByLid.set(lid, phone);
    }
  }

  /** Returns the number with those digits, and stores it if it is new. */
  of(phone: string): PhoneNumber {
    return this.#numbers.get(phone) ?? this.#keep({ phone, lid: this.#freeLid(phone), exists: true });
  }

  /** Returns the answer to a query for these digits: the number itself, or the one that it is another form of. */
  find(phone: string): PhoneNumber {
    const number = this.of(phone);
    return number.formOf === undefined ? number : this.of(number.formOf);
  }

  setExists(phone: string, exists: boolean): PhoneNumber {
    const { formOf: _, ...number } = this.of(phone);
    return this.#keep({ ...number, exists });
  }

  /** Gives the number a new LID. Stanzas to the former ones are acknowledged and not delivered. */
  changeLid(phone: string): PhoneNumber {
    const number = this.of(phone);
    const formerLids = [...(number.formerLids ?? []), number.lid];
    return this.#keep({ ...number, lid: this.#freeLid(phone), formerLids });
  }

  /** Makes the number's account that of a person with this name. */
  setAccountName(phone: string, accountName: string): void {
    this.#keep({ ...this.of(phone), accountName });
  }

  /** Marks the number as hidden: clients get only its LID. */
  hide(phone: string): void {
    const number = this.of(phone);
    if (number.isHidden !== true) this.#keep({ ...number, isHidden: true });
  }

  /** True if an address is a former LID of its number. */
  isFormer(address: string): boolean {
    const parsedAddress = parseUserAddress(address);
    const number = this.resolve(address)?.number;
    return parsedAddress?.addressing === 'lid' && number?.formerLids?.includes(parsedAddress.user) === true;
  }

  /**
   * Makes these digits another form of the number. Queries for them return the number; messages to them reach no one.
   */
  addForm(phone: string, form: string): void {
    const { lid } = this.of(form);
    this.#keep({ phone: form, lid, exists: false, formOf: phone });
  }

  /**
   * Returns the device that an address names. Undefined: the network never gave out that LID, or the address names no
   * user.
   */
  resolve(address: string | undefined): DeviceReference | undefined {
    const parsedAddress = parseUserAddress(address);
    if (!parsedAddress) return undefined;
    const phone =
      parsedAddress.addressing === 'lid' ? this.#phoneByLid.get(parsedAddress.user) : parsedAddress.user;
    if (!phone) return undefined;
    return { number: this.of(phone), device: parsedAddress.device, addressing: parsedAddress.addressing };
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

/** Returns the attributes by which a message between two people names its sender: both addresses. */
export function senderAttributes(
  number: PhoneNumber,
  addressing: Addressing,
  device = 0,
): Record<string, string> {
  const fromAddress = addressOf(number, addressing, device);
  return addressing === 'lid'
    ? { from: fromAddress, sender_pn: addressOf(number, 'pn') }
    : { from: fromAddress, sender_lid: addressOf(number, 'lid') };
}

/** Returns the attributes by which a post in a group, or a status, names its author: both addresses. */
export function authorAttributes(
  number: PhoneNumber,
  addressing: Addressing,
  device = 0,
): Record<string, string> {
  const author = { addressing_mode: addressing, participant: addressOf(number, addressing, device) };
  return addressing === 'lid'
    ? { ...author, participant_pn: addressOf(number, 'pn') }
    : { ...author, participant_lid: addressOf(number, 'lid') };
}

/** Returns the address of one device of a number in the given way of addressing. */
export const addressOf = (number: PhoneNumber, addressing: Addressing, device = 0): string =>
  addressing === 'lid' ? lidAddress(number.lid, device) : phoneAddress(number.phone, device);
