import { type App, type ListenSocket, uWebSockets } from './uwebsockets.ts';

/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT of uSockets. Without it two processes can listen on one port, and each gets a part of the
 * requests.
 */
const EXCLUSIVE_PORT = 1;

/** A port on which an app accepts connections, or refuses them for a time. */
export class ListeningPort {
  readonly port: number;
  readonly #app: App;
  readonly #host: string;
  #socket: ListenSocket | undefined;
  #isClosed = false;

  /** Throws if the address is not free. With port 0 the system chooses one. */
  constructor(app: App, host: string, port: number) {
    this.#app = app;
    this.#host = host;
    this.port = this.#listenOn(port);
    if (port !== 0) return;
    // uSockets sets SO_REUSEADDR only for a port that was asked for. Without it, open connections would keep this
    // process from listening on its port once more, so the chosen port is now asked for.
    this.#refuse();
    this.#listenOn(this.port);
  }

  /**
   * Opens or closes the port. A closed one refuses new connections, and ends those that were not accepted yet. An open
   * one accepts new ones, if the port is free. Present connections stay.
   */
  accept(isOpen: boolean): void {
    if (!isOpen) this.#refuse();
    else if (!this.#isClosed && this.#socket === undefined) this.#listen(this.port);
  }

  /** Refuses new connections from now on. */
  close(): void {
    this.#isClosed = true;
    this.#refuse();
  }

  /** Returns the port. Throws if it is not free. */
  #listenOn(port: number): number {
    this.#listen(port);
    if (this.#socket === undefined)
      throw new Error(`cannot listen on ${this.#host}:${port}: it is in use or not ours`);
    return uWebSockets.us_socket_local_port(this.#socket);
  }

  #listen(port: number): void {
    this.#app.listen(this.#host, port, EXCLUSIVE_PORT, (socket) => {
      this.#socket = socket || undefined;
    });
  }

  #refuse(): void {
    // Closing a listen socket twice ends the process: uWebSockets.js checks nothing there.
    if (this.#socket !== undefined) uWebSockets.us_listen_socket_close(this.#socket);
    this.#socket = undefined;
  }
}
