import { CallerConnection } from '../contract/caller-connection.ts';
import type { ReplyValue, WaitingCall } from '../contract/exchange.ts';
import type { HttpResponse } from './uwebsockets.ts';

/** One call on a connection, from its head to its reply. */
export class SocketCall extends CallerConnection {
  readonly response: HttpResponse;
  method = '';
  #waiting: WaitingCall | undefined;
  #isWatched = false;

  constructor(response: HttpResponse) {
    super();
    this.response = response;
  }

  /**
   * Registers a callback for the caller's disconnect. After that, uWebSockets forbids every use of the response.
   * `cutOff` replaces the default callback, and must call `leave` itself. Only the first call has an effect.
   */
  watch(cutOff?: () => void): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.response.onAborted(cutOff ?? (() => this.leave()));
  }

  /** Keeps a call that waits. Calls `goOn` when the call must continue, or soon if its caller has disconnected. */
  keep(waitingCall: WaitingCall, goOn: (call: SocketCall) => void): void {
    this.#waiting = waitingCall;
    waitingCall.wait.whenWoken(goOn, this);
    if (this.isGone) waitingCall.wait.end();
  }

  /** Answers the kept call once more. */
  async goOn(): Promise<ReplyValue> {
    const waitingCall = this.#waiting;
    this.#waiting = undefined;
    if (waitingCall === undefined) throw new Error('no call waits on this connection');
    return await waitingCall.goOn();
  }

  override leave(): void {
    super.leave();
    this.#waiting?.wait.end();
  }
}
