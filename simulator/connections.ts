import type { Companion } from './companions.ts';
import type { Connection } from './connection.ts';

/** Which companion each open chat socket logged in as. */
export class Connections {
  readonly #byCompanion = new Map<string, Connection>();

  remove(connection: Connection): void {
    const id = connection.companion?.id;
    if (id !== undefined && this.#byCompanion.get(id) === connection) this.#byCompanion.delete(id);
  }

  /** Makes the connection the companion's and returns the one it takes over from. */
  login(connection: Connection, companion: Companion): Connection | undefined {
    const previous = this.#byCompanion.get(companion.id);
    connection.companion = companion;
    this.#byCompanion.set(companion.id, connection);
    return previous;
  }

  /** The companion's live connection. */
  of(companionId: string): Connection | undefined {
    return this.#byCompanion.get(companionId);
  }

  /** Those of the companions that are connected. */
  ofAll(companions: readonly Companion[]): Connection[] {
    return companions.flatMap(({ id }) => this.#byCompanion.get(id) ?? []);
  }
}
