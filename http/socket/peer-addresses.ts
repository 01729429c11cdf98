import { addressOfBytes } from '../pipeline/caller-address.ts';

/** A connection of the server library. Its address has 4 or 16 bytes, or none if the caller has disconnected. */
export interface PeerConnection {
  getRemoteAddress(): ArrayBuffer;
}

/**
 * The peer addresses of a listener's connections. Behind a single proxy all are equal, so a request needs no lookup. A
 * lookup takes a system call and an ArrayBuffer, a tenth of the cost of a short request.
 */
export class PeerAddresses {
  #open = 0;
  /** The address of all open connections; undefined if they differ, or if one closed before its address was read. */
  #shared: string | undefined;

  /** Notes that a connection was opened, before its first request. */
  onOpened(connection: PeerConnection): void {
    const address = addressOf(connection);
    if (this.#open === 0) this.#shared = address;
    else if (this.#shared !== address) this.#shared = undefined;
    this.#open += 1;
  }

  /**
   * Notes that a connection has ended. It is unknown which one. So if addresses differed, each request looks its own up
   * until no connection is open.
   */
  onClosed(): void {
    this.#open -= 1;
  }

  /** Returns the address of an open connection as text. Empty if the caller has disconnected. */
  addressOf(connection: PeerConnection): string {
    return this.#shared ?? addressOf(connection) ?? '';
  }
}

/** Returns undefined if the caller has disconnected. */
function addressOf(connection: PeerConnection): string | undefined {
  return addressOfBytes(connection.getRemoteAddress()) || undefined;
}
