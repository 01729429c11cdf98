import type { Companion } from '../linking/companions.ts';
import type { FindStanza } from './backlog.ts';
import type { Connection } from './connection.ts';

/** Maps each companion to the open chat socket that it logged in on. */
export class Connections {
  readonly #byCompanion = new Map<string, Connection>();

  remove(connection: Connection): void {
    const id = connection.companion?.id;
    if (id !== undefined && this.#byCompanion.get(id) === connection) this.#byCompanion.delete(id);
  }

  /** Makes the connection the companion's. Returns the connection that it replaces. */
  login(connection: Connection, companion: Companion): Connection | undefined {
    const previousConnection = this.#byCompanion.get(companion.id);
    connection.companion = companion;
    this.#byCompanion.set(companion.id, connection);
    return previousConnection;
  }

  /** Returns the companion's live connection. */
  of(companionId: string): Connection | undefined {
    return this.#byCompanion.get(companionId);
  }

  /** Sends a new stanza after those that wait before it. Without a client that hears, nothing is sent. */
  offer(companionId: string, find: FindStanza): void {
    const connection = this.#byCompanion.get(companionId);
    if (connection?.hearing === 'full') connection.backlog?.add(find);
  }

  /** Returns the connections of those companions that are online. */
  ofAll(companions: readonly Companion[]): Connection[] {
    return companions.flatMap(({ id }) => this.#byCompanion.get(id) ?? []);
  }
}
