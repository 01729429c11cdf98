import { addressOfBytes } from './client-address.ts';

/** A connection of the server library; asked for its address, it answers 4 or 16 bytes, none when the caller is gone. */
export interface PeerConnection {
  getRemoteAddress(): ArrayBuffer;
}

/**
 * The addresses at the other ends of a listener's connections. Behind one proxy all have the same, which is then known
 * without asking: to ask is a system call and a new ArrayBuffer, a tenth of all that a short request costs.
 */
export class PeerAddresses {
  #open = 0;
  /** The address of every connection that is open; undefined where they differ or one of them was gone too soon to tell. */
  #shared: string | undefined;

  /** Takes note of a connection, before its first request. */
  opened(connection: PeerConnection): void {
    const address = addressOf(connection);
    if (this.#open === 0) this.#shared = address;
    else if (this.#shared !== address) this.#shared = undefined;
    this.#open += 1;
  }

  /** A connection has ended. Which one is not told, so after others came the address is asked for until none is open. */
  closed(): void {
    this.#open -= 1;
  }

  /** The address of an open connection as text; empty when the caller is gone. */
  of(connection: PeerConnection): string {
    return this.#shared ?? addressOf(connection) ?? '';
  }
}

/** Undefined when the caller is gone. */
function addressOf(connection: PeerConnection): string | undefined {
  return addressOfBytes(connection.getRemoteAddress()) || undefined;
}
