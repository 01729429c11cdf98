import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Collection, Journal } from '../journal.ts';
import type { FindStanza } from '../socket/backlog.ts';
import type { Connections } from '../socket/connections.ts';

interface Notice {
  readonly companionId: string;
  readonly stanza: BinaryNode;
}

/**
 * Notifications that companions have not acknowledged. Each is sent at once, and at every login until it is
 * acknowledged.
 */
export class Notices {
  readonly #notices: Collection<Notice>;
  readonly #connections: Connections;

  constructor(journal: Journal, connections: Connections) {
    this.#notices = journal.collection<Notice>('notices');
    this.#connections = connections;
  }

  add(companionId: string, stanza: BinaryNode): void {
    const key = `${companionId} ${stanza.attrs.id}`;
    this.#notices.set(key, { companionId, stanza });
    this.#connections.offer(companionId, this.#finder(key));
  }

  /** Adds a notification, unless one of its type and sender waits. */
  addOnce(companionId: string, stanza: BinaryNode): void {
    const { type, from } = stanza.attrs;
    const isSame = ({ attrs }: BinaryNode): boolean => attrs.type === type && attrs.from === from;
    if (!this.#of(companionId).some(([, notice]) => isSame(notice.stanza))) this.add(companionId, stanza);
  }

  acknowledged(companionId: string, id: string): void {
    this.#notices.delete(`${companionId} ${id}`);
  }

  /** Returns the notifications that wait for the companion, oldest first. */
  waitingFor(companionId: string): FindStanza[] {
    return this.#of(companionId).map(([key]) => this.#finder(key));
  }

  /** Removes the notifications of a companion that was unlinked. */
  forget(companionId: string): void {
    for (const [key] of this.#of(companionId)) this.#notices.delete(key);
  }

  #of(companionId: string): [key: string, notice: Notice][] {
    return [...this.#notices.entries()].filter(([, notice]) => notice.companionId === companionId);
  }

  /** Returns a function that finds the notification when it is next, unless it was acknowledged meanwhile. */
  #finder(key: string): FindStanza {
    return () => this.#notices.get(key)?.stanza;
  }
}
