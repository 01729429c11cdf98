import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MaybePromise } from '../runtime/maybe-promise.ts';
import { CallerConnection } from './contract/caller-connection.ts';
import type {
  HeaderLines,
  ReplyStream,
  ReplyValue,
  RequestValue,
  Responder,
  WaitingCall,
} from './contract/exchange.ts';
import type { BodyBudget } from './pipeline/body-budget.ts';
import type { BodyPolicy } from './pipeline/front.ts';
import { KeptBody, type ReadBody, wholeBody } from './pipeline/kept-body.ts';
import { LARGE_BODY_BYTES, LargeBodies } from './pipeline/large-bodies.ts';
import { PeerAddresses } from './pipeline/peer-addresses.ts';
import { statusLine } from './pipeline/status-line.ts';
import { type HeadOptions, type OpenRequest, readHead } from './request-head.ts';
import { ENDS_HEADS, type HttpResponse, type ListenSocket, uWebSockets } from './uwebsockets.ts';

/** The address to listen on, and the front that answers. */
export interface ServerOptions extends HeadOptions {
  readonly host: string;
  /** 0: the system's choice. */
  readonly port: number;
  readonly answer: Responder;
  /** Bounds the bodies in reading; shared by the listeners of a node. */
  readonly bodies: BodyBudget;
  readonly bodyPolicy: BodyPolicy;
}

/** A listener that runs. */
export interface Server {
  readonly port: number;
  /**
   * Accepts no new connections, answers every call in progress, and closes each connection after its reply. Resolves
   * when no call is left or after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/** One connection's request from its first byte to its reply. */
class Exchange extends CallerConnection {
  readonly response: HttpResponse;
  /** The request's method. */
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

  /** Keeps only a call that waits. `woke` is called when it must continue, or at once if its caller disconnects. */
  keep(waiting: WaitingCall, woke: (exchange: Exchange) => void): void {
    this.#waiting = waiting;
    waiting.wait.whenWoken(woke, this);
    if (this.isGone) waiting.wait.end();
  }

  /** Answers the kept call again. */
  async goOn(): Promise<ReplyValue> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) throw new Error('no call waits on this connection');
    return await waiting.goOn();
  }

  override leave(): void {
    super.leave();
    this.#waiting?.wait.end();
  }
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT of uSockets. Without it two processes share a port in silence, each with a part of the requests. */
const EXCLUSIVE_PORT = 1;

/** Starts a listener. Rejects when the address cannot be had. */
export function startServer(options: ServerOptions): Promise<Server> {
  const app = uWebSockets.App();
  const { bodies, bodyPolicy } = options;
  const large = new LargeBodies();
  const peers = new PeerAddresses();
  let inProgress = 0;
  let draining = false;
  let drained: (() => void) | undefined;

  const reader: BodyReader = {
    bodies,
    accountOf: (head) => bodyPolicy.accountOf(head),
    respond(exchange, whole) {
      if (whole.body.length <= LARGE_BODY_BYTES) respond(exchange, whole);
      else respondInTurn(exchange, whole);
    },
    abandoned: settle,
  };

  function settle(): void {
    inProgress -= 1;
    if (inProgress === 0) drained?.();
  }

  // 1: the connection was opened; -1: it has ended.
  app.filter((connection, change) => (Number(change) === 1 ? peers.opened(connection) : peers.closed()));

  app.any('/*', (response, raw) => {
    const exchange = new Exchange(response);
    inProgress += 1;
    const { request, hasBody } = readHead(raw, exchange, peers.of(response), options);
    exchange.method = request.method;
    // The bytes after such a head could be read as another request. Any bytes that arrive before the answer close the
    // connection, and every answer closes it, including 404 and 405.
    if (request.bodyFault === 'length_repeated') {
      respondOnceKnown(exchange, answerNextTurn(request));
      return;
    }
    // A body that is not asked for is passed over by the parser, without memory, until the next request begins.
    if (!hasBody || request.bodyFault !== undefined || bodyPolicy.headDecides(request)) {
      respond(exchange, request);
      return;
    }
    new BodyReading(exchange, request, reader).begin();
  });

  // Rare cases are separate functions: a function that creates closures pays for them in each call.
  async function answerNextTurn(request: RequestValue): Promise<ReplyValue> {
    await nextTurn();
    return { ...(await options.answer(request)), close: true };
  }

  function respondInTurn(exchange: Exchange, whole: RequestValue): void {
    large.enter(() => respondLater(exchange, whole));
  }

  /** Outside of the request's own callback, so what is written has to be gathered, and the caller may be gone. */
  function respondLater(exchange: Exchange, request: RequestValue): void {
    if (exchange.isGone) settle();
    else exchange.response.cork(() => respond(exchange, request));
  }

  function respond(exchange: Exchange, request: RequestValue): void {
    // Nothing else of the request is kept until the answer: its body may be large, and the answer may be delayed.
    const answer = options.answer(request);
    if (answer instanceof Promise || answer.waiting !== undefined) {
      respondOnceKnown(exchange, Promise.resolve(answer));
      return;
    }
    // Within the request's own callback uWebSockets gathers what is written by itself.
    if (!exchange.isGone) send(exchange, closing(answer));
    settle();
  }

  function respondOnceKnown(exchange: Exchange, answer: Promise<ReplyValue>): void {
    // The answer is completed even if its caller has disconnected.
    exchange.watch();
    void answer.then((reply) => sendOrWait(exchange, reply));
  }

  function sendOrWait(exchange: Exchange, reply: ReplyValue): void {
    if (reply.waiting !== undefined) {
      exchange.keep(reply.waiting, goOn);
      return;
    }
    if (!exchange.isGone) exchange.response.cork(() => send(exchange, closing(reply)));
    settle();
  }

  function goOn(exchange: Exchange): void {
    void exchange.goOn().then((reply) => sendOrWait(exchange, reply));
  }

  /** While the listener drains, a connection ends with its reply. */
  function closing(reply: ReplyValue): ReplyValue {
    return draining ? { ...reply, close: true } : reply;
  }

  async function close(listener: ListenSocket, graceMs: number): Promise<void> {
    // Closing a listen socket twice ends the process: uWebSockets.js checks nothing there.
    if (!draining) uWebSockets.us_listen_socket_close(listener);
    draining = true;
    if (inProgress === 0) return;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(resolve, graceMs);
      drained = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }

  return new Promise((resolve, reject) => {
    app.listen(options.host, options.port, EXCLUSIVE_PORT, (listener) => {
      if (listener === false) {
        reject(new Error(`cannot listen on ${options.host}:${options.port}: it is in use or not ours`));
        return;
      }
      const port = uWebSockets.us_socket_local_port(listener);
      resolve({ port, close: (graceMs) => close(listener, graceMs) });
    });
  });
}

/** Rules for the bodies that a listener reads. */
interface BodyReader {
  readonly bodies: BodyBudget;
  /** Same as `BodyPolicy.accountOf`. */
  accountOf(head: RequestValue): MaybePromise<string | undefined>;
  respond(exchange: Exchange, whole: RequestValue): void;
  abandoned(): void;
}

/** A body on its way in. Whole or refused, its request is answered; cut off, half a request never reaches anybody. */
class BodyReading {
  readonly #exchange: Exchange;
  readonly #request: OpenRequest;
  readonly #reader: BodyReader;
  /** The body so far; undefined before its first piece. */
  #kept: KeptBody | undefined;
  #isAsked = false;
  #isOver = false;

  constructor(exchange: Exchange, request: OpenRequest, reader: BodyReader) {
    this.#exchange = exchange;
    this.#request = request;
    this.#reader = reader;
  }

  begin(): void {
    this.#exchange.watch(() => this.#cutOff());
    this.#exchange.response.onData((piece, isLast) => this.#take(piece, isLast));
  }

  #cutOff(): void {
    this.#exchange.leave();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#kept?.release();
    this.#reader.abandoned();
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return;
    const read = this.#read(piece, isLast);
    if (read !== undefined) {
      this.#end(read);
    } else if (!this.#isAsked) {
      this.#isAsked = true;
      void this.#askForAccount();
    }
  }

  #read(piece: ArrayBuffer, isLast: boolean): ReadBody | undefined {
    if (isLast && this.#kept === undefined) return wholeBody(piece);
    this.#kept ??= new KeptBody(this.#reader.bodies);
    return this.#kept.add(piece, isLast);
  }

  #end({ body, fault }: ReadBody): void {
    this.#isOver = true;
    this.#request.body = body;
    this.#request.bodyFault = fault;
    this.#reader.respond(this.#exchange, this.#request);
  }

  /**
   * Looks up the account of a slow body. If its key is invalid, the request is answered before the body is complete.
   */
  async #askForAccount(): Promise<void> {
    try {
      const account = await this.#reader.accountOf(this.#request);
      if (this.#isOver) return;
      if (account !== undefined && this.#kept?.belongsTo(account)) return;
      this.#kept?.release();
      const fault = account === undefined ? undefined : 'crowded';
      this.#exchange.response.cork(() => this.#end({ body: '', fault }));
    } catch {
      // The key is looked up again once the body is complete. The caller gets the error then.
    }
  }
}

/**
 * Idle time of a connection, so that clients close it first and send no request into a closing one. uWebSockets closes
 * an idle connection after 10 s, on a clock that ticks each 4 s: after 8 s at the earliest.
 */
const KEEP_ALIVE = '\r\nKeep-Alive: timeout=8';

function send(exchange: Exchange, reply: ReplyValue): void {
  const { response, method } = exchange;
  const { status, contentType, headers, body, stream, close } = reply;
  // uWebSockets writes the status 200 itself.
  if (status !== 200) response.writeStatus(statusLine(status));
  const isHead = method === 'HEAD';
  const shown = isHead ? headHeaders(reply) : close === true ? '' : KEEP_ALIVE;
  response.writeHeader('Content-Type', contentType + headers + shown);
  if (isHead && close === true) {
    closeAfterHead(exchange, reply);
  } else if (isHead) {
    // Given a length, uWebSockets waits for a body that never comes and ends the connection with the next request.
    response.endWithoutBody();
  } else if (stream !== undefined) {
    stream(new OpenReply(exchange));
  } else {
    response.end(body, close === true);
  }
}

/** Returns the headers that uWebSockets adds itself only to a reply with a body. */
function headHeaders({ body, stream, close }: ReplyValue): HeaderLines {
  if (close === true) return ENDS_HEADS ? '' : '\r\nConnection: close';
  return (stream === undefined ? `\r\nContent-Length: ${Buffer.byteLength(body)}` : '') + KEEP_ALIVE;
}

/**
 * Closes the connection after the head of a reply. An older uWebSockets would close it after the body, which never
 * comes. Until it is closed here, further bytes of the caller are not read as a request.
 */
function closeAfterHead(exchange: Exchange, { body, stream }: ReplyValue): void {
  const { response } = exchange;
  const length = stream === undefined ? Buffer.byteLength(body) : 0;
  if (ENDS_HEADS) {
    response.endWithoutBody(length, true);
    return;
  }
  exchange.watch();
  response.tryEnd('', length);
  // Writes of this turn are gathered until its end.
  setImmediate(() => {
    if (!exchange.isGone) response.close();
  });
}

/**
 * A reply that stays open. uWebSockets buffers the bytes that the reader does not accept, and the writer asks for their
 * number. They are counted from the last write with an empty buffer. It is not known if a part of them was sent since.
 */
class OpenReply implements ReplyStream {
  readonly #exchange: Exchange;
  #buffered = 0;
  /** Undefined before anybody waited for the reader. */
  #drained: (() => void) | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.watch();
  }

  write(piece: string | Uint8Array): boolean {
    const { isGone, response } = this.#exchange;
    if (isGone) return false;
    let taken = true;
    response.cork(() => {
      taken = response.write(piece);
    });
    this.#buffered = taken ? 0 : this.#buffered + Buffer.byteLength(piece);
    return taken;
  }

  drained(): Promise<void> {
    const { isGone, response } = this.#exchange;
    if (isGone) return Promise.resolve();
    if (this.#drained === undefined) {
      response.onWritable(() => {
        this.#drained?.();
        return true;
      });
      this.#exchange.onGone(() => this.#drained?.());
    }
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  end(): void {
    const { isGone, response } = this.#exchange;
    if (isGone) return;
    response.cork(() => {
      response.end();
    });
    this.#exchange.leave();
  }

  drop(): void {
    if (!this.#exchange.isGone) this.#exchange.response.close();
  }

  bufferedBytes(): number {
    return this.#buffered;
  }

  onClose(callback: () => void): void {
    this.#exchange.onGone(callback);
  }
}
