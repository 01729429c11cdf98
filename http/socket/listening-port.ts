import { type App, type ListenSocket, uWebSockets } from './uwebsockets.ts';

/** LIBUS_LISTEN_EXCLUSIVE_PORT of uSockets. Without it two processes share a port in silence, each with a part of the requests. */
const EXCLUSIVE_PORT = 1;

/** A port on which an app takes connections, or refuses them for a time. */
export class ListeningPort {
  readonly port: number;
  readonly #app: App;
  readonly #host: string;
  #socket: ListenSocket | undefined;
  #isClosed = false;

  /** Listens. Throws if the address cannot be had; port 0 is the system's choice. */
  constructor(app: App, host: string, port: number) {
    this.#app = app;
    this.#host = host;
    this.port = this.#listenOn(port);
    if (port !== 0) return;
    // Connections of a port that the system chose keep others from listening on it. Those of a port that was asked for
    // do not: uSockets sets SO_REUSEADDR for these alone.
    this.#refuse();
    this.#listenOn(this.port);
  }

  /**
   * False: refuses new connections, and ends those that were not accepted yet. True: takes them again, if the port can be
   * had. Present connections stay.
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

  /** Returns the port. Throws if it cannot be had. */
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
