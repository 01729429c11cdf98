import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplyValue, RequestValue } from '../contract/exchange.ts';
import type { EdgeCall, Responder } from '../pipeline/edge.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyReader, BodyReading } from './body-reading.ts';
import type { RawHead } from './found-headers.ts';
import { LARGE_BODY_LENGTH, LargeBodies } from './large-bodies.ts';
import { ListeningPort } from './listening-port.ts';
import { PeerAddresses } from './peer-addresses.ts';
import { type HeadOptions, readHead } from './request-head.ts';
import { sendReply } from './send-reply.ts';
import { SocketCall } from './socket-call.ts';
import { type HttpResponse, uWebSockets } from './uwebsockets.ts';

export interface ServerOptions extends HeadOptions {
  readonly host: string;
  /** 0: the system's choice. */
  readonly port: number;
  /** Returns the call at its edge, made from its head. */
  readonly enter: (request: RequestValue) => EdgeCall;
  readonly answer: Responder;
  /** Bounds the bodies in reading; shared by the listeners of a node. */
  readonly bodies: BodyBudget;
}

/** Starts a listener. Rejects if the address is not free. */
export async function startServer(options: ServerOptions): Promise<Server> {
  return new Server(options);
}

/** A listening port, and the calls in progress on its connections. */
export class Server {
  readonly #options: ServerOptions;
  readonly #reader: BodyReader;
  readonly #largeBodies = new LargeBodies();
  readonly #peers = new PeerAddresses();
  readonly #listeningPort: ListeningPort;
  #inProgress = 0;
  #isDraining = false;
  #onDrained: (() => void) | undefined;

  /** Throws if the address is not free. */
  constructor(options: ServerOptions) {
    this.#options = options;
    this.#reader = {
      bodies: options.bodies,
      respond: (call, edgeCall) => this.#respondToBody(call, edgeCall),
      abandoned: () => this.#countEnd(),
    };
    const app = uWebSockets.App();
    // 1: the connection was opened; -1: it has ended.
    app.filter((connection, change) =>
      Number(change) === 1 ? this.#peers.onOpened(connection) : this.#peers.onClosed(),
    );
    app.any('/*', (response, rawHead) => this.#take(response, rawHead));
    this.#listeningPort = new ListeningPort(app, options.host, options.port);
  }

  get port(): number {
    return this.#listeningPort.port;
  }

  /**
   * Opens or closes the port. A closed one refuses new connections, and ends those not accepted yet. Present ones stay.
   */
  accept(isOpen: boolean): void {
    this.#listeningPort.accept(isOpen);
  }

  /**
   * Accepts no new connections, answers every call in progress, and closes each connection after its reply. Resolves
   * when no call is left or after `graceMs`.
   */
  async close(graceMs: number): Promise<void> {
    this.#listeningPort.close();
    this.#isDraining = true;
    if (this.#inProgress === 0) return;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(resolve, graceMs);
      this.#onDrained = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }

  #take(response: HttpResponse, rawHead: RawHead): void {
    const call = new SocketCall(response);
    this.#inProgress += 1;
    const { request, hasBody } = readHead(rawHead, call, this.#peers.addressOf(response), this.#options);
    call.method = request.method;
    const edgeCall = this.#options.enter(request);
    // The bytes after such a head could be read as another request. Any bytes that arrive before the reply close the
    // connection, and every reply closes it, including 404 and 405.
    if (request.bodyFault === 'length_repeated') {
      this.#respondLater(call, this.#answerNextTurn(edgeCall));
      return;
    }
    // The parser drops the bytes of a body that nobody reads. The next request on the connection begins after them.
    if (!hasBody || request.bodyFault !== undefined || !edgeCall.takesBody) {
      this.#respond(call, edgeCall);
      return;
    }
    new BodyReading(call, edgeCall, this.#reader).begin();
  }

  // Separate, so that most requests make no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
  async #answerNextTurn(edgeCall: EdgeCall): Promise<ReplyValue> {
    await nextTurn();
    return { ...(await this.#options.answer(edgeCall)), closesConnection: true };
  }

  #respondToBody(call: SocketCall, edgeCall: EdgeCall): void {
    if (edgeCall.request.body.length <= LARGE_BODY_LENGTH) this.#respond(call, edgeCall);
    else this.#respondInTurn(call, edgeCall);
  }

  #respondInTurn(call: SocketCall, edgeCall: EdgeCall): void {
    this.#largeBodies.enter(() => this.#respondOutside(call, edgeCall));
  }

  /** Outside of the request's own callback, writes must be gathered, and the caller may have disconnected. */
  #respondOutside(call: SocketCall, edgeCall: EdgeCall): void {
    if (call.isGone) this.#countEnd();
    else call.response.cork(() => this.#respond(call, edgeCall));
  }

  #respond(call: SocketCall, edgeCall: EdgeCall): void {
    const reply = this.#options.answer(edgeCall);
    if (reply instanceof Promise || reply.waiting !== undefined) {
      this.#respondLater(call, Promise.resolve(reply));
      return;
    }
    // Within the request's own callback uWebSockets gathers writes by itself.
    if (!call.isGone) sendReply(call, this.#closing(reply));
    this.#countEnd();
  }

  /**
   * Awaits the reply even if its caller has disconnected. Keeps nothing of the request, which may be large.
   */
  #respondLater(call: SocketCall, replyPromise: Promise<ReplyValue>): void {
    call.watch();
    void replyPromise.then((reply) => this.#sendOrWait(call, reply));
  }

  #sendOrWait(call: SocketCall, reply: ReplyValue): void {
    if (reply.waiting !== undefined) {
      call.keep(reply.waiting, this.#goOn);
      return;
    }
    if (!call.isGone) call.response.cork(() => sendReply(call, this.#closing(reply)));
    this.#countEnd();
  }

  // One function for all calls, so that a call that waits keeps none of its own.
  readonly #goOn = (call: SocketCall): void => this.#respondLater(call, call.goOn());

  /** While the listener drains, a connection ends with its reply. */
  #closing(reply: ReplyValue): ReplyValue {
    return this.#isDraining ? { ...reply, closesConnection: true } : reply;
  }

  #countEnd(): void {
    this.#inProgress -= 1;
    if (this.#inProgress === 0) this.#onDrained?.();
  }
}
