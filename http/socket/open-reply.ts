import type { ReplyStream } from '../contract/exchange.ts';
import type { SocketCall } from './socket-call.ts';

/**
 * A reply that stays open. uWebSockets buffers the bytes that the reader does not accept, and the writer asks for their
 * number. They are counted from the last write with an empty buffer. Some of them may have been sent since.
 */
export class OpenReply implements ReplyStream {
  readonly #call: SocketCall;
  #buffered = 0;
  /** Undefined until something has waited for the reader. */
  #drained: (() => void) | undefined;

  constructor(call: SocketCall) {
    this.#call = call;
    call.watch();
  }

  write(piece: string | Uint8Array): boolean {
    const { isGone, response } = this.#call;
    if (isGone) return false;
    let isTaken = true;
    response.cork(() => {
      isTaken = response.write(piece);
    });
    this.#buffered = isTaken ? 0 : this.#buffered + Buffer.byteLength(piece);
    return isTaken;
  }

  waitUntilDrained(): Promise<void> {
    const { isGone, response } = this.#call;
    if (isGone) return Promise.resolve();
    if (this.#drained === undefined) {
      response.onWritable(() => {
        this.#drained?.();
        return true;
      });
      this.#call.onGone(() => this.#drained?.());
    }
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(): void {
    const { isGone, response } = this.#call;
    if (isGone) return;
    response.cork(() => {
      response.end();
    });
    this.#call.leave();
  }

  drop(): void {
    if (!this.#call.isGone) this.#call.response.close();
  }

  bufferedBytes(): number {
    return this.#buffered;
  }

  onClose(callback: () => void): void {
    this.#call.onGone(callback);
  }
}
