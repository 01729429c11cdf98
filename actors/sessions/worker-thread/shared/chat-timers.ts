import type { SealedStore } from '../store/sealed-store.ts';

const HASH = 'credentials';
const fieldOf = (person: string): string => `chat-timer/${person}`;

/**
 * The timers of the chats with people, in seconds, after which messages disappear. A message without the timer of its
 * chat stays there, and the phone shows a warning beside it (WhiskeySockets/Baileys issues 1687 and 1753).
 */
export class ChatTimers {
  readonly #sealed: Pick<SealedStore, 'find' | 'writeLater'>;

  constructor(sealedStore: Pick<SealedStore, 'find' | 'writeLater'>) {
    this.#sealed = sealedStore;
  }

  /** Keeps the timer of the chat with a person. 0 means none. It is stored together with the message that named it. */
  async keep(person: string, seconds: number): Promise<void> {
    if (seconds === ((await this.of(person)) ?? 0)) return;
    const value = seconds === 0 ? undefined : Buffer.from(String(seconds));
    this.#sealed.writeLater({ hash: HASH, fields: new Map([[fieldOf(person), value]]) });
  }

  /** Returns the timer of the chat with a person. Undefined if there is none. */
  async of(person: string): Promise<number | undefined> {
    const storedSeconds = await this.#sealed.find(HASH, fieldOf(person));
    return storedSeconds === undefined ? undefined : Number(storedSeconds.toString());
  }
}
