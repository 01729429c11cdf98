import { createRequire } from 'node:module';
import type { RawHead } from './found-headers.ts';

/**
 * The reply to a request, and the request's body. Its methods throw after the caller has disconnected or the reply is
 * complete.
 */
export interface HttpResponse {
  writeStatus(line: string): void;
  writeHeader(name: string, value: string): void;
  /** Returns false if the reader does not accept it yet; it is buffered. */
  write(piece: string | Uint8Array): boolean;
  /**
   * Calls back when the reader accepts more; the callback returns true. There is one callback for the whole reply:
   * later writes also drain it.
   */
  onWritable(callback: () => boolean): void;
  end(body?: string | Uint8Array, closeConnection?: boolean): void;
  /** With `closeConnection` the library writes `Connection: close`. */
  endWithoutBody(length?: number, closeConnection?: boolean): void;
  tryEnd(body: string, length: number): void;
  close(): void;
  /** Gathers the writes of `work`. */
  cork(work: () => void): void;
  onAborted(callback: () => void): void;
  /** A piece is valid only during the callback. */
  onData(callback: (piece: ArrayBuffer, isLast: boolean) => void): void;
  getRemoteAddress(): ArrayBuffer;
}

export interface ListenSocket {
  readonly isListenSocket: never;
}

type OnListening = (listener: ListenSocket | false) => void;

/** A table of routes and the sockets that listen for them. */
export interface App {
  any(pattern: string, handler: (response: HttpResponse, request: RawHead) => void): void;
  /** The callback gets 1 if a connection was opened, and a negative number if it has ended. */
  filter(callback: (connection: HttpResponse, change: number) => void): void;
  /** Port 0 is the system's choice. */
  listen(host: string, port: number, options: number, onListening: OnListening): void;
}

/** The part of uWebSockets.js that is used here. */
interface Library {
  App(): App;
  us_listen_socket_close(listener: ListenSocket): void;
  us_socket_local_port(listener: ListenSocket): number;
  /** Turns a switch of the library on, for the calling thread. */
  _cfg(name: string): void;
}

/** Leaves out the header `uWebSockets: 20`. The library compares this number, and gives it no name. */
const NO_SERVER_HEADER = '999999990007';

/**
 * Most bytes of a request's head: its line and all header fields. The parser refuses a longer one with 431. A request
 * line of 8,000 octets should be accepted (RFC 9112, 3).
 */
const MOST_HEAD_BYTES = 8_192;

/**
 * Loads the library's binary for the running Node. Each platform and Node version has its own package. There are two
 * releases. Packages for Node 20 and 22 run on Debian 12. Those for 24 and 26 need the glibc of Debian 13. Throws if
 * there is no package: no slower server replaces it.
 */
function load(): Library {
  // uWebSockets.js reads its limit once from the environment, while its binary is loaded. The default is 4,096.
  // biome-ignore lint/style/noProcessEnv: the library has no other place for it, and nothing of ours reads it.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(MOST_HEAD_BYTES);
  const { platform, arch, version, versions } = process;
  const name = `${platform}-${arch}-${versions.node.split('.')[0]}`;
  try {
    const library = createRequire(import.meta.url)(`@uwsjs/${name}`) as Library;
    library._cfg(NO_SERVER_HEADER);
    return library;
  } catch (error) {
    throw new Error(
      `the HTTP server's package @uwsjs/${name} does not load on Node ${version}; bin/prepare installs it`,
      { cause: error },
    );
  }
}

export const uWebSockets = load();

/** True if a reply to HEAD ends with its head. The release for Node 20 and 22 waits for a body that never comes. */
export const ENDS_HEADS = Number(process.versions.node.split('.')[0]) >= 24;
