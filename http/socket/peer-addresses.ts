import { addressOfBytes } from '../pipeline/client-address.ts';

/** A connection of the server library; asked for its address, it answers 4 or 16 bytes, none when the caller is gone. */
export interface PeerConnection {
  getRemoteAddress(): ArrayBuffer;
}

/**
 * The peer addresses of a listener's connections. With a single proxy all are the same, so no lookup is needed. A
 * lookup takes a system call and a new ArrayBuffer, a tenth of the cost of a short request.
 */
export class PeerAddresses {
  #open = 0;
  /** The address of all open connections; undefined if they differ, or if one closed before its address was read. */
  #shared: string | undefined;

  /** Takes note of a connection, before its first request. */
  opened(connection: PeerConnection): void {
    const address = addressOf(connection);
    if (this.#open === 0) this.#shared = address;
    else if (this.#shared !== address) this.#shared = undefined;
    this.#open += 1;
  }

  /**
   * Notes that a connection has ended. It is unknown which one, so after different addresses each request asks until no
   * connection is open.
   */
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
