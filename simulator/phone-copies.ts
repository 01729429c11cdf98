/** A message as the phone of its recipient has it. */
export interface PhoneCopy {
  /** The stanza's id. */
  readonly id: string;
  /** The sender's address; the number if the phone knows it. */
  readonly from: string;
  readonly plaintext: Uint8Array;
  /** Seconds since the epoch. */
  readonly t: string;
}

/** The most copies that a phone keeps for its companions. A new one removes the oldest. */
const MOST_COPIES = 1_000;

/** The copies that phones have of messages to them. Held in memory. */
export class PhoneCopies {
  readonly #byPhone = new Map<string, Map<string, PhoneCopy>>();

  keep(phone: string, copy: PhoneCopy): void {
    const copies = this.#byPhone.get(phone) ?? new Map<string, PhoneCopy>();
    this.#byPhone.set(phone, copies);
    for (const oldest of copies.keys()) {
      if (copies.size < MOST_COPIES) break;
      copies.delete(oldest);
    }
    copies.set(copy.id, copy);
  }

  find(phone: string, id: string): PhoneCopy | undefined {
    return this.#byPhone.get(phone)?.get(id);
  }
}
