import { isLidAddress, isNumberAddress, userOf } from '../wire/chat-address.ts';
import { WireFields, type WireRecord } from '../wire/wire-fields.ts';

/** The most entries that are kept of one history. An account of many years has about 10,000 of each. */
const MOST_MAPPINGS = 50_000;
const MOST_TOKENS = 20_000;

/** Field numbers of the client's WAProto: `HistorySync`, `Conversation` and `PhoneNumberToLIDMapping`. */
const CONVERSATIONS = 2;
const MAPPINGS = 15;
const CONVERSATION = { id: 1, token: 21, tokenAt: 22, tokenSentAt: 28, numberAddress: 39, lidAddress: 42 };
const MAPPING = { numberAddress: 1, lidAddress: 2 };

/** The token by which a contact lets the shop write to it. */
export interface ContactToken {
  /** The chat's address, by number or by the network's own id. */
  readonly chat: string;
  readonly token: Buffer;
  /** When the contact issued it, in seconds. */
  readonly issuedAt: number;
  /** When the shop issued its own to the contact, in seconds. */
  readonly ownIssuedAt: number | undefined;
}

/**
 * Reads a phone's history: who has which of the network's own ids, and the tokens of contacts. It skips texts and
 * names.
 */
export class HistoryFacts {
  /** By the number's digits: the user part of the network's own id. */
  readonly mappings = new Map<string, string>();
  readonly tokens: ContactToken[] = [];
  readonly #fields = new WireFields(
    new Map([
      [CONVERSATIONS, new Set(Object.values(CONVERSATION))],
      [MAPPINGS, new Set(Object.values(MAPPING))],
    ]),
    (field, record) => (field === MAPPINGS ? this.#mapping(record) : this.#conversation(record)),
  );

  /** Reads on. Throws if the data is not a history. */
  push(chunk: Uint8Array): void {
    this.#fields.push(chunk);
  }

  /** Call it after the last data. Throws if the history was cut short. */
  end(): void {
    this.#fields.end();
  }

  #mapping(record: WireRecord): void {
    this.#map(textOf(record, MAPPING.numberAddress), textOf(record, MAPPING.lidAddress));
  }

  #conversation(record: WireRecord): void {
    const chat = textOf(record, CONVERSATION.id);
    if (isLidAddress(chat)) this.#map(textOf(record, CONVERSATION.numberAddress), chat);
    else if (isNumberAddress(chat)) this.#map(chat, textOf(record, CONVERSATION.lidAddress));
    else return;
    const token = record.get(CONVERSATION.token);
    const issuedAt = record.get(CONVERSATION.tokenAt);
    const ownIssuedAt = record.get(CONVERSATION.tokenSentAt);
    if (!Buffer.isBuffer(token) || typeof issuedAt !== 'number' || this.tokens.length >= MOST_TOKENS) return;
    this.tokens.push({
      chat,
      token,
      issuedAt,
      ownIssuedAt: typeof ownIssuedAt === 'number' ? ownIssuedAt : undefined,
    });
  }

  #map(numberAddress: string, lidAddress: string): void {
    if (!isNumberAddress(numberAddress) || !isLidAddress(lidAddress)) return;
    if (this.mappings.size < MOST_MAPPINGS) this.mappings.set(userOf(numberAddress), userOf(lidAddress));
  }
}

function textOf(record: WireRecord, field: number): string {
  const value = record.get(field);
  return Buffer.isBuffer(value) ? value.toString() : '';
}
