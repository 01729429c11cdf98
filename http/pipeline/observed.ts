import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type MaybePromise, mapMaybePromise } from '../../runtime/maybe-promise.ts';
import type { ObjectId } from '../../runtime/object-id.ts';
import type { AnsweredRequest } from '../contract/answered-request.ts';
import { errorReply } from '../contract/envelope.ts';
import type { CallIds, ReplyValue, RequestValue, WaitingCall } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { CallsInProgress } from './calls-in-progress.ts';
import { DelayedRefusals } from './delayed-refusals.ts';
import {
  anonymous,
  type EdgeCall,
  type EdgeHandler,
  type EdgeReply,
  type Responder,
  UNMATCHED,
} from './edge.ts';
import { readTraceparent } from './traceparent.ts';

export interface ObservedOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inProgress: CallsInProgress;
  newId(nowMs: number): ObjectId;
  observe(request: AnsweredRequest): void;
}

/** A call in progress. Its id is known from the start, because the data that it creates is stored with it. */
interface BegunCall extends CallIds {
  readonly startedMs: number;
}

/** A call that waits. It is answered once more after its wait, and counts as one call. */
class ObservedWait implements WaitingCall {
  readonly call: EdgeCall;
  readonly begunCall: BegunCall;
  readonly wait: CallWait;
  readonly #goOn: (waitingCall: ObservedWait) => MaybePromise<ReplyValue>;

  constructor(
    call: EdgeCall,
    { begun, wait }: { readonly begun: BegunCall; readonly wait: CallWait },
    goOn: (waitingCall: ObservedWait) => MaybePromise<ReplyValue>,
  ) {
    this.call = call;
    this.begunCall = begun;
    this.wait = wait;
    this.#goOn = goOn;
  }

  goOn(): MaybePromise<ReplyValue> {
    return this.#goOn(this);
  }
}

/**
 * A caller's request id is returned unchanged if it has up to 256 characters of visible ASCII and spaces. Otherwise the
 * request gets a new id.
 */
const ECHOED_REQUEST_ID = /^[ -~]{1,256}$/;

/** Wraps an edge: each request gets an id and a log entry, and the number in progress is bounded. */
export function observed(edge: EdgeHandler, options: ObservedOptions): Responder {
  const { clock, inProgress, newId } = options;
  const refusals = new DelayedRefusals(clock);

  function begin({ headers: { requestId: givenId, traceparent: parent } }: RequestValue): BegunCall {
    const isEchoed = givenId !== '' && ECHOED_REQUEST_ID.test(givenId);
    const requestId = isEchoed ? givenId : newId(clock.wallMs());
    const traceparent = parent === '' ? undefined : readTraceparent(parent);
    return { requestId, traceparent, startedMs: clock.monotonicMs() };
  }

  function answer(call: EdgeCall, begunCall: BegunCall, wait?: CallWait): MaybePromise<ReplyValue> {
    let edgeReply: MaybePromise<EdgeReply>;
    try {
      edgeReply = edge(call, begunCall, wait);
    } catch (error) {
      return finishBroken(call.request, error, begunCall);
    }
    return edgeReply instanceof Promise
      ? answerLater(call, edgeReply, begunCall)
      : settle(call, edgeReply, begunCall);
  }

  /** Waits for the edge's reply. The call counts as in progress until then. */
  function answerLater(
    call: EdgeCall,
    edgeReply: Promise<EdgeReply>,
    begunCall: BegunCall,
  ): Promise<ReplyValue> {
    inProgress.enter();
    return edgeReply.then(
      (edgeReplyKnown) => {
        inProgress.leave();
        return settle(call, edgeReplyKnown, begunCall);
      },
      (error) => {
        inProgress.leave();
        return finishBroken(call.request, error, begunCall);
      },
    );
  }

  /** Finishes a call, delays its refusal, or lets it wait. A call that waits is not logged yet. */
  function settle(call: EdgeCall, edgeReply: EdgeReply, begunCall: BegunCall): MaybePromise<ReplyValue> {
    const { reply, wait } = edgeReply;
    if (wait !== undefined) {
      inProgress.beginWait();
      return { ...reply, waiting: new ObservedWait(call, { begun: begunCall, wait }, goOn) };
    }
    const { request } = call;
    return reply.code === 'OVERLOADED'
      ? refuseLater(request, edgeReply, begunCall)
      : finish(request, edgeReply, begunCall);
  }

  function goOn({ call, begunCall, wait }: ObservedWait): MaybePromise<ReplyValue> {
    inProgress.endWait();
    return mapMaybePromise(answer(call, begunCall, wait), (reply) => {
      if (reply.waiting === undefined) wait.leave();
      return reply;
    });
  }

  /**
   * Sends a refusal after its delay. It only waits, so it does not count as in progress. It empties the body of the
   * request, so that the wait does not keep it in memory.
   */
  async function refuseLater(
    request: RequestValue,
    refusal: EdgeReply,
    begunCall: BegunCall,
  ): Promise<ReplyValue> {
    request.body = '';
    await refusals.delay();
    return finish(request, refusal, begunCall);
  }

  function finish(request: RequestValue, edgeReply: EdgeReply, begunCall: BegunCall): ReplyValue {
    try {
      return logReply(request, edgeReply, begunCall);
    } catch (error) {
      return finishBroken(request, error, begunCall);
    }
  }

  function finishBroken(request: RequestValue, error: unknown, begunCall: BegunCall): ReplyValue {
    options.log.error({ err: error }, 'the edge threw');
    return logReply(request, anonymous(errorReply({ code: 'INTERNAL_ERROR' }), UNMATCHED), begunCall);
  }

  /** Logs and counts an answered request. Returns the reply with its id. */
  function logReply({ method, ip }: RequestValue, edgeReply: EdgeReply, begunCall: BegunCall): ReplyValue {
    const atMs = clock.wallMs();
    const { requestId, startedMs } = begunCall;
    const { reply, route, tenantId, keyId } = edgeReply;
    const { status, contentType, headers, body, stream, close } = reply;
    options.observe({
      atMs,
      requestId,
      traceparent: edgeReply.traceparent ?? begunCall.traceparent,
      tenantId,
      keyId,
      method,
      route,
      status,
      latencyMs: Math.round((clock.monotonicMs() - startedMs) * 100) / 100,
      ip,
      errorCode: reply.code,
    });
    return { status, contentType, headers: `${headers}\r\nX-Request-Id: ${requestId}`, body, stream, close };
  }

  return (call) => {
    const begunCall = begin(call.request);
    if (!inProgress.isFull) return answer(call, begunCall);
    return refuseLater(call.request, anonymous(errorReply({ code: 'OVERLOADED' }), UNMATCHED), begunCall);
  };
}
