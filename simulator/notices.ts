import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Companion } from './companions.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import type { Collection, Journal } from './journal.ts';

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
    this.#notices.set(`${companionId} ${stanza.attrs.id}`, { companionId, stanza });
    const connection = this.#connections.of(companionId);
    if (connection?.backlog !== undefined && connection.hearing === 'full') connection.send(stanza);
  }

  acknowledged(companionId: string, id: string): void {
    this.#notices.delete(`${companionId} ${id}`);
  }

  /** Sends the notifications that wait for the companion. */
  flush(connection: Connection, companion: Companion): void {
    for (const [, { companionId, stanza }] of this.#notices.entries()) {
      if (companionId === companion.id) connection.send(stanza);
    }
  }

  /** Removes the notifications of a companion that was unlinked. */
  forget(companionId: string): void {
    for (const [key, notice] of [...this.#notices.entries()]) {
      if (notice.companionId === companionId) this.#notices.delete(key);
    }
  }
}
