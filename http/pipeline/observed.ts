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

/**
 * The ids of a call, and the time when it began. The data that a call creates is stored with its ids, so they are known
 * at once.
 */
interface CallStart extends CallIds {
  readonly startedMs: number;
}

/** A call that waits. It is answered once more after its wait, and counts as one call. */
class ObservedWait implements WaitingCall {
  readonly call: EdgeCall;
  readonly start: CallStart;
  readonly wait: CallWait;
  readonly #goOn: (waitingCall: ObservedWait) => MaybePromise<ReplyValue>;

  constructor(
    call: EdgeCall,
    { start, wait }: { readonly start: CallStart; readonly wait: CallWait },
    goOn: (waitingCall: ObservedWait) => MaybePromise<ReplyValue>,
  ) {
    this.call = call;
    this.start = start;
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

function startOf({ headers }: RequestValue, { clock, newId }: ObservedOptions): CallStart {
  const { requestId: givenId, traceparent: parent } = headers;
  const isEchoed = givenId !== '' && ECHOED_REQUEST_ID.test(givenId);
  const requestId = isEchoed ? givenId : newId(clock.wallMs());
  const traceparent = parent === '' ? undefined : readTraceparent(parent);
  return { requestId, traceparent, startedMs: clock.monotonicMs() };
}

/** Wraps an edge: each request gets an id and a log entry, and the number in progress is bounded. */
export function observed(edge: EdgeHandler, options: ObservedOptions): Responder {
  const { clock, inProgress } = options;
  const refusals = new DelayedRefusals(clock);

  function answer(call: EdgeCall, start: CallStart, wait?: CallWait): MaybePromise<ReplyValue> {
    let edgeReply: MaybePromise<EdgeReply>;
    try {
      edgeReply = edge(call, start, wait);
    } catch (error) {
      return finishBroken(call.request, error, start);
    }
    return edgeReply instanceof Promise
      ? answerLater(call, edgeReply, start)
      : settle(call, edgeReply, start);
  }

  /** Waits for the edge's reply. The call counts as in progress until then. */
  function answerLater(call: EdgeCall, edgeReply: Promise<EdgeReply>, start: CallStart): Promise<ReplyValue> {
    inProgress.enter();
    return edgeReply.then(
      (edgeReplyKnown) => {
        inProgress.leave();
        return settle(call, edgeReplyKnown, start);
      },
      (error) => {
        inProgress.leave();
        return finishBroken(call.request, error, start);
      },
    );
  }

  /** Finishes a call, delays its refusal, or lets it wait. A call that waits is not logged yet. */
  function settle(call: EdgeCall, edgeReply: EdgeReply, start: CallStart): MaybePromise<ReplyValue> {
    const { reply, wait } = edgeReply;
    if (wait !== undefined) {
      inProgress.beginWait();
      return { ...reply, waiting: new ObservedWait(call, { start, wait }, goOn) };
    }
    const { request } = call;
    return reply.code === 'OVERLOADED'
      ? refuseLater(request, edgeReply, start)
      : finish(request, edgeReply, start);
  }

  function goOn({ call, start, wait }: ObservedWait): MaybePromise<ReplyValue> {
    inProgress.endWait();
    return mapMaybePromise(answer(call, start, wait), (reply) => {
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
    start: CallStart,
  ): Promise<ReplyValue> {
    request.body = '';
    await refusals.delay();
    return finish(request, refusal, start);
  }

  function finish(request: RequestValue, edgeReply: EdgeReply, start: CallStart): ReplyValue {
    try {
      return logReply(request, edgeReply, start);
    } catch (error) {
      return finishBroken(request, error, start);
    }
  }

  function finishBroken(request: RequestValue, error: unknown, start: CallStart): ReplyValue {
    options.log.error({ err: error }, 'the edge threw');
    return logReply(request, anonymous(errorReply({ code: 'INTERNAL_ERROR' }), UNMATCHED), start);
  }

  /** Logs and counts an answered request. Returns the reply with its id. */
  function logReply({ method, ip }: RequestValue, edgeReply: EdgeReply, start: CallStart): ReplyValue {
    const atMs = clock.wallMs();
    const { requestId, startedMs } = start;
    const { reply, route, tenantId, keyId } = edgeReply;
    const { status, contentType, headers, body, stream, closesConnection } = reply;
    options.observe({
      atMs,
      requestId,
      traceparent: edgeReply.traceparent ?? start.traceparent,
      tenantId,
      keyId,
      method,
      route,
      status,
      latencyMs: Math.round((clock.monotonicMs() - startedMs) * 100) / 100,
      ip,
      errorCode: reply.code,
    });
    return {
      status,
      contentType,
      headers: `${headers}\r\nX-Request-Id: ${requestId}`,
      body,
      stream,
      closesConnection,
    };
  }

  return (call) => {
    const start = startOf(call.request, options);
    if (!inProgress.isFull) return answer(call, start);
    return refuseLater(call.request, anonymous(errorReply({ code: 'OVERLOADED' }), UNMATCHED), start);
  };
}
