import { type BinaryNode, getBinaryNodeChild } from '@whiskeysockets/baileys';
import type { SimulatorClock } from '../clock.ts';
import type { Collection, Journal } from '../journal.ts';
import type { PhoneNumber } from '../numbers.ts';

/** A restriction: the number must not start a new chat. */
export interface Timelock {
  readonly kind: string;
  /** Whole seconds since the epoch. null: the server names no end, and the restriction lasts until it is lifted. */
  readonly endsAt: number | null;
}

/** The number of messages that may go to people who have not answered. */
export interface NewChatQuota {
  readonly total: number;
  readonly used: number;
  readonly status: CappingStatus;
  /** Whole seconds since the epoch. */
  readonly cycleEndsAt: number;
}

/** The steps of the server's warning. */
export const CAPPING_STATUSES = ['NONE', 'FIRST_WARNING', 'SECOND_WARNING', 'CAPPED'] as const;
export type CappingStatus = (typeof CAPPING_STATUSES)[number];

/** The token that a contact gave a number by writing to it. With it a restricted number may answer. */
export interface ContactToken {
  readonly bytes: Buffer;
  /** Whole seconds since the epoch. */
  readonly at: number;
  /** The LID that the contact had when it gave the token. */
  readonly lid: string;
}

interface Limits {
  readonly timelock: Timelock | null;
  readonly quota: NewChatQuota | null;
}

/** The ack errors of a message that would start a chat. */
const TIMELOCKED = 463;
const CAPPED = 475;

/** Keeps the limits of numbers for messages to people who never wrote to them, and the tokens of people who did. */
export class NumberLimits {
  readonly #limits: Collection<Limits>;
  /** By contact and number. */
  readonly #tokens: Collection<ContactToken>;
  readonly #clock: SimulatorClock;

  constructor(journal: Journal, clock: SimulatorClock) {
    this.#limits = journal.collection<Limits>('number-limits');
    this.#tokens = journal.collection<ContactToken>('contact-tokens');
    this.#clock = clock;
  }

  /** Returns the restriction that is in force. */
  timelock(phone: string): Timelock | null {
    const { timelock } = this.#of(phone);
    const isOver = timelock?.endsAt != null && timelock.endsAt * 1_000 <= this.#clock.wallMs();
    return isOver ? null : timelock;
  }

  quota(phone: string): NewChatQuota | null {
    return this.#of(phone).quota;
  }

  restrict(phone: string, timelock: Timelock | null): void {
    this.#limits.set(phone, { ...this.#of(phone), timelock });
  }

  limit(phone: string, quota: NewChatQuota | null): void {
    this.#limits.set(phone, { ...this.#of(phone), quota });
  }

  /** Returns the token that the contact gave the number. Undefined: the contact never wrote. */
  tokenOf(contact: string, phone: string): ContactToken | undefined {
    return this.#tokens.get(`${contact} ${phone}`);
  }

  /** Stores the token of a contact that writes to the number. From now on there is a chat. */
  noteWritten(contact: string, phone: string, token: ContactToken): void {
    this.#tokens.set(`${contact} ${phone}`, token);
  }

  /**
   * Returns the code with which a message to a person is refused. An accepted message counts against the quota. A token
   * counts for the account that gave it: a new LID of the number is another account, which never wrote.
   */
  take(phone: string, recipient: Pick<PhoneNumber, 'phone' | 'lid'>, stanza: BinaryNode): number | undefined {
    if (phone === recipient.phone || stanza.attrs.category === 'peer') return undefined;
    const givenToken = this.tokenOf(recipient.phone, phone);
    const knownToken = givenToken?.lid === recipient.lid ? givenToken : undefined;
    const shownToken = getBinaryNodeChild(stanza, 'tctoken')?.content;
    const isShown =
      knownToken !== undefined &&
      shownToken instanceof Uint8Array &&
      shownToken.length > 0 &&
      knownToken.bytes.equals(shownToken);
    if (this.timelock(phone) !== null && !isShown) return TIMELOCKED;
    const quota = this.quota(phone);
    if (quota === null || knownToken !== undefined) return undefined;
    if (quota.used >= quota.total || quota.status === 'CAPPED') return CAPPED;
    this.limit(phone, { ...quota, used: quota.used + 1 });
    return undefined;
  }

  #of(phone: string): Limits {
    return this.#limits.get(phone) ?? { timelock: null, quota: null };
  }
}
