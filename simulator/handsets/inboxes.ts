import type { Collection, Journal } from '../journal.ts';
import type { AttachmentFacts } from '../media/attachments.ts';

/** The fields by which a message names the one that it quotes. */
export interface Quote {
  /** The stanza's id. */
  readonly id: string;
  /** The address of its author. */
  readonly participant: string | null;
  readonly text: string | null;
}

/** A message or status as a handset shows it. */
export interface InboxEntry {
  /** Ascending within the simulator. A list uses it as cursor. */
  readonly id: string;
  /** The stanza's id, chosen by the sending client. */
  readonly messageId: string;
  /** The sender's number, with `+`. */
  readonly from: string;
  readonly text: string | null;
  readonly mediaType: string | null;
  /** SHA-256 of the decrypted attachment, hex. null: there is none, or it could not be fetched or decrypted. */
  readonly mediaSha256: string | null;
  /** The facts that the message gives of its attachment; null without one. */
  readonly media: AttachmentFacts | null;
  /** The message that it quotes, with the names that the sender's client used. Null if there is none. */
  readonly quote: Quote | null;
  /** Seconds after which the message disappears; null: it stays, even if the chat has a timer. */
  readonly expiration: number | null;
  /** The group's id; null: a chat of two people. */
  readonly group: string | null;
  /** True if the sender was seen composing in this chat since its last message there. */
  readonly composingSeen: boolean;
  /** How often the sender delivered the same stanza id again. The handset shows it only once. */
  readonly duplicates: number;
  /** ISO 8601. */
  readonly at: string;
}

/** The style of a text status as it was sent. Null for what it does not name. */
export interface StatusStyle {
  /** `#AARRGGBB`. */
  readonly background: string | null;
  /** The number of the font; 0 is the plain one. */
  readonly font: number | null;
}

/** A status as its viewers see it. */
export interface StatusEntry extends Omit<InboxEntry, 'quote' | 'expiration' | 'group' | 'composingSeen'> {
  /** Null if it is no text, or names neither background nor font. */
  readonly style: StatusStyle | null;
  /** The numbers whose handsets could read it, with `+`. */
  readonly audience: readonly string[];
}

/** The most entries in an inbox. A new one removes the oldest. */
const LONGEST_INBOX = 10_000;

/** Entries by number, in the order of arrival. Each stanza id of a sender occurs once. */
export class EntryLog<
  Entry extends { readonly id: string; readonly messageId: string; readonly from: string },
> {
  readonly #entries: Collection<Entry>;
  readonly #byOwner = new Map<string, Map<string, string>>();
  #lastId = 0;

  constructor(journal: Journal, name: string) {
    this.#entries = journal.collection<Entry>(name);
    for (const [key, entry] of this.#entries.entries()) {
      this.#stanzasOf(key.slice(0, key.indexOf(' '))).set(`${entry.from} ${entry.messageId}`, entry.id);
      this.#lastId = Math.max(this.#lastId, Number(entry.id));
    }
  }

  /** Returns the owner's entry for that stanza, if there is one. */
  find(owner: string, stanza: { from: string; messageId: string }): Entry | undefined {
    const id = this.#byOwner.get(owner)?.get(`${stanza.from} ${stanza.messageId}`);
    return id === undefined ? undefined : this.#entries.get(`${owner} ${id}`);
  }

  add(owner: string, entry: Omit<Entry, 'id'>): Entry {
    this.#lastId += 1;
    const keptEntry = { ...entry, id: String(this.#lastId).padStart(12, '0') } as unknown as Entry;
    this.replace(owner, keptEntry);
    const stanzas = this.#stanzasOf(owner);
    stanzas.set(`${keptEntry.from} ${keptEntry.messageId}`, keptEntry.id);
    const [oldestStanza] = stanzas;
    if (stanzas.size > LONGEST_INBOX && oldestStanza !== undefined) {
      stanzas.delete(oldestStanza[0]);
      this.#entries.delete(`${owner} ${oldestStanza[1]}`);
    }
    return keptEntry;
  }

  replace(owner: string, entry: Entry): void {
    this.#entries.set(`${owner} ${entry.id}`, entry);
  }

  /** Returns all of an owner's entries, oldest first. */
  list(owner: string): Entry[] {
    const entries: Entry[] = [];
    for (const id of this.#byOwner.get(owner)?.values() ?? []) {
      const entry = this.#entries.get(`${owner} ${id}`);
      if (entry) entries.push(entry);
    }
    return entries;
  }

  #stanzasOf(owner: string): Map<string, string> {
    const stanzas = this.#byOwner.get(owner) ?? new Map<string, string>();
    this.#byOwner.set(owner, stanzas);
    return stanzas;
  }
}
