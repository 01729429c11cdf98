import { proto } from '@whiskeysockets/baileys';
import type { Clock } from '../../../../runtime/clock.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import { SENT_DAYS, SENT_HASHES, type SentHash } from '../../worker-protocol.ts';
import type { SealedStore } from '../store/sealed-store.ts';

/** Messages that were recently requested, kept open: many devices may request the same one. */
const MOST_FOUND = 16;

/** A message as it was put on the wire. */
export interface SentMessage {
  /** The chat's address: a group, a person by number or by the network's own id, or the address of all statuses. */
  readonly chat: string;
  readonly message: proto.IMessage;
  /**
   * The audience of a status, by the network's own ids. Absent if it is not a status, or 0.2.0 sent it.
   */
  readonly audience?: readonly string[];
}

/**
 * The messages that a shop sent within the last seven days, complete. A device that could not read one can get it
 * again, also after a restart, and after any number of later ones. A phone asks when it is next on. Each day is one
 * sealed hash, which expires as a whole.
 */
export class SentMessages {
  readonly #sealed: Pick<SealedStore, 'write' | 'find'>;
  readonly #clock: Pick<Clock, 'wallMs'>;
  readonly #found = new Map<string, Promise<SentMessage | undefined>>();
  /** The day whose hash was given its end by this session. */
  #dayWithEnd: number | undefined;

  constructor(sealedStore: Pick<SealedStore, 'write' | 'find'>, clock: Pick<Clock, 'wallMs'>) {
    this.#sealed = sealedStore;
    this.#clock = clock;
  }

  /** Resolves when the message is stored. Writes keep their order, so a later writer may rely on it. */
  remember(wireId: string, { chat, message, audience = [] }: SentMessage): Promise<void> {
    const day = this.#today();
    const value = Buffer.concat([
      Buffer.from(`${[chat, ...audience].join(' ')}\n`),
      proto.Message.encode(message).finish(),
    ]);
    const expiresAtMs = this.#dayWithEnd === day ? undefined : (day + SENT_DAYS + 1) * DAY_MS;
    this.#dayWithEnd = day;
    this.#found.delete(wireId);
    return this.#sealed.write({ hash: hashOf(day), fields: new Map([[wireId, value]]), expiresAtMs });
  }

  /** Returns the message of that wire id, or undefined if none left under it in the last seven days. */
  find(wireId: string): Promise<SentMessage | undefined> {
    const knownSearch = this.#found.get(wireId);
    if (knownSearch !== undefined) return knownSearch;
    const search = this.#search(wireId);
    this.#found.set(wireId, search);
    search.catch(() => this.#found.delete(wireId));
    for (const oldestId of this.#found.keys()) {
      if (this.#found.size <= MOST_FOUND) break;
      this.#found.delete(oldestId);
    }
    return search;
  }

  async #search(wireId: string): Promise<SentMessage | undefined> {
    const today = this.#today();
    for (let daysAgo = 0; daysAgo <= SENT_DAYS; daysAgo += 1) {
      const value = await this.#sealed.find(hashOf(today - daysAgo), wireId);
      if (value === undefined) continue;
      const end = value.indexOf('\n');
      const [chat = '', ...audience] = value.subarray(0, end).toString().split(' ');
      const message = proto.Message.decode(value.subarray(end + 1));
      return audience.length === 0 ? { chat, message } : { chat, message, audience };
    }
    return undefined;
  }

  #today(): number {
    return Math.floor(this.#clock.wallMs() / DAY_MS);
  }
}

const hashOf = (day: number): SentHash => SENT_HASHES[day % SENT_HASHES.length] ?? 'sent:0';
