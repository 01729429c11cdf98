import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplyValue, RequestValue } from '../contract/exchange.ts';
import type { Entered, Responder } from '../pipeline/edge.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyReader, BodyReading } from './body-reading.ts';
import { LARGE_BODY_BYTES, LargeBodies } from './large-bodies.ts';
import { ListeningPort } from './listening-port.ts';
import { PeerAddresses } from './peer-addresses.ts';
import { type HeadOptions, readHead } from './request-head.ts';
import { sendReply } from './send-reply.ts';
import { SocketCall } from './socket-call.ts';
import { uWebSockets } from './uwebsockets.ts';

/** The address to listen on, and the edge that answers. */
export interface ServerOptions extends HeadOptions {
  readonly host: string;
  /** 0: the system's choice. */
  readonly port: number;
  /** Returns the request at its edge, from its head. */
  readonly enter: (request: RequestValue) => Entered;
  readonly answer: Responder;
  /** Bounds the bodies in reading; shared by the listeners of a node. */
  readonly bodies: BodyBudget;
}

/** A listener that runs. */
export interface Server {
  readonly port: number;
  /** False: refuses new connections, and ends those not accepted yet; present ones stay. True: accepts them again. */
  accept(isOpen: boolean): void;
  /**
   * Accepts no new connections, answers every call in progress, and closes each connection after its reply. Resolves
   * when no call is left or after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/** Starts a listener. Rejects when the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const app = uWebSockets.App();
  const large = new LargeBodies();
  const peers = new PeerAddresses();
  let inProgress = 0;
  let draining = false;
  let drained: (() => void) | undefined;

  const reader: BodyReader = {
    bodies: options.bodies,
    respond(call, entered) {
      if (entered.request.body.length <= LARGE_BODY_BYTES) respond(call, entered);
      else respondInTurn(call, entered);
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
    const call = new SocketCall(response);
    inProgress += 1;
    const { request, hasBody } = readHead(raw, call, peers.of(response), options);
    call.method = request.method;
    const entered = options.enter(request);
    // The bytes after such a head could be read as another request. Any bytes that arrive before the answer close the
    // connection, and every answer closes it, including 404 and 405.
    if (request.bodyFault === 'length_repeated') {
      respondOnceKnown(call, answerNextTurn(entered));
      return;
    }
    // A body that is not asked for is passed over by the parser, without memory, until the next request begins.
    if (!hasBody || request.bodyFault !== undefined || !entered.takesBody) {
      respond(call, entered);
      return;
    }
    new BodyReading(call, entered, reader).begin();
  });

  // Rare cases are separate functions: a function that creates closures pays for them in each call.
  async function answerNextTurn(entered: Entered): Promise<ReplyValue> {
    await nextTurn();
    return { ...(await options.answer(entered)), close: true };
  }

  function respondInTurn(call: SocketCall, entered: Entered): void {
    large.enter(() => respondLater(call, entered));
  }

  /** Outside of the request's own callback, so writes must be gathered, and the caller may have disconnected. */
  function respondLater(call: SocketCall, entered: Entered): void {
    if (call.isGone) settle();
    else call.response.cork(() => respond(call, entered));
  }

  function respond(call: SocketCall, entered: Entered): void {
    // Nothing else of the request is kept until the answer: its body may be large, and the answer may be delayed.
    const answer = options.answer(entered);
    if (answer instanceof Promise || answer.waiting !== undefined) {
      respondOnceKnown(call, Promise.resolve(answer));
      return;
    }
    // Within the request's own callback uWebSockets gathers writes by itself.
    if (!call.isGone) sendReply(call, closing(answer));
    settle();
  }

  function respondOnceKnown(call: SocketCall, answer: Promise<ReplyValue>): void {
    // The answer is completed even if its caller has disconnected.
    call.watch();
    void answer.then((reply) => sendOrWait(call, reply));
  }

  function sendOrWait(call: SocketCall, reply: ReplyValue): void {
    if (reply.waiting !== undefined) {
      call.keep(reply.waiting, goOn);
      return;
    }
    if (!call.isGone) call.response.cork(() => sendReply(call, closing(reply)));
    settle();
  }

  function goOn(call: SocketCall): void {
    void call.goOn().then((reply) => sendOrWait(call, reply));
  }

  /** While the listener drains, a connection ends with its reply. */
  function closing(reply: ReplyValue): ReplyValue {
    return draining ? { ...reply, close: true } : reply;
  }

  async function close(graceMs: number): Promise<void> {
    listening.close();
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

  const listening = new ListeningPort(app, options.host, options.port);
  return { port: listening.port, accept: (isOpen) => listening.accept(isOpen), close };
}
