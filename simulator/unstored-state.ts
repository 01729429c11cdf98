/** The state of the network that is held in memory, and ends with the process. */

/** The most retries of a phone for one message (Baileys `maxMsgRetryCount`, whatsmeow `retry.go`). */
const MOST_RETRIES = 5;

/** How often each handset asked for a message again. */
export class RetryCounts {
  readonly #counts = new Map<string, number>();

  /** Returns the number of a handset's next retry for one message. Undefined if it stopped. */
  next(phone: string, sender: string, messageId: string): number | undefined {
    const name = `${phone} ${sender} ${messageId}`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    if (count > MOST_RETRIES) return undefined;
    this.#counts.set(name, count);
    return count;
  }
}

/** Counts of what one client sent since the simulator started. */
export interface SendCount {
  /** `message` stanzas that were accepted. */
  readonly stanzas: number;
  /** The devices of these stanzas, counted for each stanza. */
  readonly deliveries: number;
  /** `message` stanzas that got lost on their way (the fault `lost`). */
  readonly lost: number;
}

/** Counts what each companion sent. */
export class SendCounts {
  readonly #counts = new Map<string, SendCount>();

  countsOf(companionId: string): SendCount {
    return this.#counts.get(companionId) ?? { stanzas: 0, deliveries: 0, lost: 0 };
  }

  /** Counts a stanza that was accepted for `devices` devices. */
  countTaken(companionId: string, devices: number): void {
    const count = this.countsOf(companionId);
    const { stanzas, deliveries } = count;
    this.#counts.set(companionId, { ...count, stanzas: stanzas + 1, deliveries: deliveries + devices });
  }

  /** Counts a stanza that got lost. */
  lost(companionId: string): void {
    const count = this.countsOf(companionId);
    this.#counts.set(companionId, { ...count, lost: count.lost + 1 });
  }
}

/** Handsets that are switched off, and their work for when they are on again. */
export class OfflineHandsets {
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();

  /** Keeps the work for a handset that is off. Returns false if it is on; then nothing is kept. */
  keep(phone: string, work: () => Promise<void>): boolean {
    const waitingMessages = this.#waiting.get(phone);
    waitingMessages?.push(work);
    return waitingMessages !== undefined;
  }

  switchOff(phone: string): void {
    if (!this.#waiting.has(phone)) this.#waiting.set(phone, []);
  }

  /** Resolves when the handset has done all waiting work, in order. */
  async switchOn(phone: string): Promise<void> {
    const waitingMessages = this.#waiting.get(phone) ?? [];
    this.#waiting.delete(phone);
    for (const work of waitingMessages) await work();
  }
}

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

/** The copies that phones have of messages to them. */
export class PhoneCopies {
  readonly #byPhone = new Map<string, Map<string, PhoneCopy>>();

  keep(phone: string, copy: PhoneCopy): void {
    const copies = this.#byPhone.get(phone) ?? new Map<string, PhoneCopy>();
    this.#byPhone.set(phone, copies);
    for (const oldestId of copies.keys()) {
      if (copies.size < MOST_COPIES) break;
      copies.delete(oldestId);
    }
    copies.set(copy.id, copy);
  }

  find(phone: string, id: string): PhoneCopy | undefined {
    return this.#byPhone.get(phone)?.get(id);
  }
}
