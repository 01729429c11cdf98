import { connect, type Socket } from 'node:net';

/** Called with a reply: status, and head and body as they came, as Latin-1 text. */
export type ReplyListener = (status: number, text: string, bodyAt: number) => void;

/**
 * One keep-alive connection that carries one request at a time, given as bytes. It reads only the status and the length
 * of a reply. It is as lean as a client in Node can be, so the figures show the server.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #onReply: ReplyListener | undefined;
  #text = '';

  /** Resolves when the connection is open. `buffer` receives the read bytes; thousands of connections may share one. */
  static open(
    port: number,
    onLost: (error: Error) => void,
    buffer = Buffer.alloc(64 * 1024),
  ): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({
        port,
        host: '127.0.0.1',
        noDelay: true,
        onread: {
          buffer,
          callback: (bytes) => {
            connection.#read(buffer.toString('latin1', 0, bytes));
            return true;
          },
        },
      });
      const connection = new HttpConnection(socket);
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        socket.on('error', onLost);
        socket.on('close', () => onLost(new Error('the server closed a connection')));
        resolve(connection);
      });
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Writes a request; the listener is called once, with its reply. */
  send(request: Buffer | string, onReply: ReplyListener): void {
    this.#onReply = onReply;
    this.#socket.write(request, 'latin1');
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    const text = this.#text === '' ? chunk : this.#text + chunk;
    const headEnd = text.indexOf('\r\n\r\n');
    // `Content-Length` in either case; no other header of any side ends so.
    const lengthAt = headEnd < 0 ? -1 : text.indexOf('ength: ');
    const bodyAt = headEnd + 4;
    if (headEnd < 0 || text.length < bodyAt + Number.parseInt(text.slice(lengthAt + 7, lengthAt + 15), 10)) {
      this.#text = text;
      return;
    }
    this.#text = '';
    const onReply = this.#onReply;
    this.#onReply = undefined;
    onReply?.(Number.parseInt(text.slice(9, 12), 10), text, bodyAt);
  }
}
