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
  type EdgeReply,
  type EdgeResponder,
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
export function observed(edge: EdgeResponder, options: ObservedOptions): Responder {
  const calls = new ObservedCalls(edge, options);
  return (call) => calls.begin(call);
}

/** The calls of one edge. */
class ObservedCalls {
  readonly #edge: EdgeResponder;
  readonly #options: ObservedOptions;
  readonly #refusals: DelayedRefusals;

  constructor(edge: EdgeResponder, options: ObservedOptions) {
    this.#edge = edge;
    this.#options = options;
    this.#refusals = new DelayedRefusals(options.clock);
  }

  begin(call: EdgeCall): MaybePromise<ReplyValue> {
    const start = startOf(call.request, this.#options);
    if (!this.#options.inProgress.isFull) return this.#answer(call, start);
    return this.#refuseLater(call.request, anonymous(errorReply({ code: 'OVERLOADED' }), UNMATCHED), start);
  }

  /** Answers a call after its wait. */
  goOn({ call, start, wait }: ObservedWait): MaybePromise<ReplyValue> {
    this.#options.inProgress.endWait();
    return mapMaybePromise(this.#answer(call, start, wait), (reply) => {
      if (reply.waiting === undefined) wait.leave();
      return reply;
    });
  }

  #answer(call: EdgeCall, start: CallStart, wait?: CallWait): MaybePromise<ReplyValue> {
    let edgeReply: MaybePromise<EdgeReply>;
    try {
      edgeReply = this.#edge(call, start, wait);
    } catch (error) {
      return this.#finishBroken(call.request, error, start);
    }
    return edgeReply instanceof Promise
      ? this.#answerLater(call, edgeReply, start)
      : this.#settle(call, edgeReply, start);
  }

  /** Waits for the edge's reply. The call counts as in progress until then. */
  #answerLater(call: EdgeCall, edgeReply: Promise<EdgeReply>, start: CallStart): Promise<ReplyValue> {
    const { inProgress } = this.#options;
    inProgress.enter();
    return edgeReply.then(
      (knownReply) => {
        inProgress.leave();
        return this.#settle(call, knownReply, start);
      },
      (error) => {
        inProgress.leave();
        return this.#finishBroken(call.request, error, start);
      },
    );
  }

  /** Finishes a call, delays its refusal, or lets it wait. A call that waits is not logged yet. */
  #settle(call: EdgeCall, edgeReply: EdgeReply, start: CallStart): MaybePromise<ReplyValue> {
    const { reply, wait } = edgeReply;
    if (wait !== undefined) {
      this.#options.inProgress.beginWait();
      return { ...reply, waiting: new ObservedWait(call, { start, wait }, this) };
    }
    const { request } = call;
    return reply.code === 'OVERLOADED'
      ? this.#refuseLater(request, edgeReply, start)
      : this.#finish(request, edgeReply, start);
  }

  /**
   * Sends a refusal after its delay. It only waits, so it does not count as in progress. It empties the body of the
   * request, so that the wait does not keep it in memory.
   */
  async #refuseLater(request: RequestValue, refusal: EdgeReply, start: CallStart): Promise<ReplyValue> {
    request.body = '';
    await this.#refusals.delay();
    return this.#finish(request, refusal, start);
  }

  #finish(request: RequestValue, edgeReply: EdgeReply, start: CallStart): ReplyValue {
    try {
      return this.#logReply(request, edgeReply, start);
    } catch (error) {
      return this.#finishBroken(request, error, start);
    }
  }

  #finishBroken(request: RequestValue, error: unknown, start: CallStart): ReplyValue {
    this.#options.log.error({ err: error }, 'the edge threw');
    return this.#logReply(request, anonymous(errorReply({ code: 'INTERNAL_ERROR' }), UNMATCHED), start);
  }

  /** Logs and counts an answered request. Returns the reply with its id. */
  #logReply({ method, ip }: RequestValue, edgeReply: EdgeReply, start: CallStart): ReplyValue {
    const { clock } = this.#options;
    const atMs = clock.wallMs();
    const { requestId, startedMs } = start;
    const { reply, route, tenantId, keyId } = edgeReply;
    const { status, contentType, headers, body, stream, closesConnection } = reply;
    this.#options.observe({
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
}

/** A call that waits. It is answered once more after its wait, and counts as one call. */
class ObservedWait implements WaitingCall {
  readonly call: EdgeCall;
  readonly start: CallStart;
  readonly wait: CallWait;
  readonly #calls: ObservedCalls;

  constructor(
    call: EdgeCall,
    { start, wait }: { readonly start: CallStart; readonly wait: CallWait },
    calls: ObservedCalls,
  ) {
    this.call = call;
    this.start = start;
    this.wait = wait;
    this.#calls = calls;
  }

  goOn(): MaybePromise<ReplyValue> {
    return this.#calls.goOn(this);
  }
}
