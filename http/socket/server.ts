import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplyValue, RequestValue } from '../contract/exchange.ts';
import type { EdgeCall, Responder } from '../pipeline/edge.ts';
import type { BodyBudget } from './body-budget.ts';
import { type BodyReader, BodyReading } from './body-reading.ts';
import { LARGE_BODY_BYTES, LargeBodies } from './large-bodies.ts';
import { ListeningPort } from './listening-port.ts';
import { PeerAddresses } from './peer-addresses.ts';
import { type HeadOptions, readHead } from './request-head.ts';
import { sendReply } from './send-reply.ts';
import { SocketCall } from './socket-call.ts';
import { uWebSockets } from './uwebsockets.ts';

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

export interface Server {
  readonly port: number;
  /**
   * Opens or closes the port. A closed one refuses new connections, and ends those not accepted yet. Present ones stay.
   */
  accept(isOpen: boolean): void;
  /**
   * Accepts no new connections, answers every call in progress, and closes each connection after its reply. Resolves
   * when no call is left or after `graceMs`.
   */
  close(graceMs: number): Promise<void>;
}

/** Starts a listener. Rejects if the address is not free. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const app = uWebSockets.App();
  const largeBodies = new LargeBodies();
  const peers = new PeerAddresses();
  let inProgress = 0;
  let isDraining = false;
  let onDrained: (() => void) | undefined;

  const reader: BodyReader = {
    bodies: options.bodies,
    respond(call, edgeCall) {
      if (edgeCall.request.body.length <= LARGE_BODY_BYTES) respond(call, edgeCall);
      else respondInTurn(call, edgeCall);
    },
    abandoned: settle,
  };

  function settle(): void {
    inProgress -= 1;
    if (inProgress === 0) onDrained?.();
  }

  // 1: the connection was opened; -1: it has ended.
  app.filter((connection, change) => (Number(change) === 1 ? peers.onOpened(connection) : peers.onClosed()));

  app.any('/*', (response, rawHead) => {
    const call = new SocketCall(response);
    inProgress += 1;
    const { request, hasBody } = readHead(rawHead, call, peers.addressOf(response), options);
    call.method = request.method;
    const edgeCall = options.enter(request);
    // The bytes after such a head could be read as another request. Any bytes that arrive before the reply close the
    // connection, and every reply closes it, including 404 and 405.
    if (request.bodyFault === 'length_repeated') {
      respondLater(call, answerNextTurn(edgeCall));
      return;
    }
    // The parser passes over a body that is not read, without memory, until the next request begins.
    if (!hasBody || request.bodyFault !== undefined || !edgeCall.takesBody) {
      respond(call, edgeCall);
      return;
    }
    new BodyReading(call, edgeCall, reader).begin();
  });

  // Separate, so that most requests make no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
  async function answerNextTurn(edgeCall: EdgeCall): Promise<ReplyValue> {
    await nextTurn();
    return { ...(await options.answer(edgeCall)), closesConnection: true };
  }

  function respondInTurn(call: SocketCall, edgeCall: EdgeCall): void {
    largeBodies.enter(() => respondOutside(call, edgeCall));
  }

  /** Outside of the request's own callback, writes must be gathered, and the caller may have disconnected. */
  function respondOutside(call: SocketCall, edgeCall: EdgeCall): void {
    if (call.isGone) settle();
    else call.response.cork(() => respond(call, edgeCall));
  }

  function respond(call: SocketCall, edgeCall: EdgeCall): void {
    const reply = options.answer(edgeCall);
    if (reply instanceof Promise || reply.waiting !== undefined) {
      respondLater(call, Promise.resolve(reply));
      return;
    }
    // Within the request's own callback uWebSockets gathers writes by itself.
    if (!call.isGone) sendReply(call, closing(reply));
    settle();
  }

  /**
   * The reply is awaited even if its caller has disconnected. The request is not kept here, because it may be large.
   */
  function respondLater(call: SocketCall, replyPromise: Promise<ReplyValue>): void {
    call.watch();
    void replyPromise.then((reply) => sendOrWait(call, reply));
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
    respondLater(call, call.goOn());
  }

  /** While the listener drains, a connection ends with its reply. */
  function closing(reply: ReplyValue): ReplyValue {
    return isDraining ? { ...reply, closesConnection: true } : reply;
  }

  async function close(graceMs: number): Promise<void> {
    port.close();
    isDraining = true;
    if (inProgress === 0) return;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(resolve, graceMs);
      onDrained = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }

  const port = new ListeningPort(app, options.host, options.port);
  return { port: port.port, accept: (isOpen) => port.accept(isOpen), close };
}
