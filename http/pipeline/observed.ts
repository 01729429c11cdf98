import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { type MaybePromise, mapMaybePromise } from '../../runtime/maybe-promise.ts';
import type { ObjectId } from '../../runtime/object-id.ts';
import { errorCode, errorReply } from '../contract/envelope.ts';
import type { ReplyValue, RequestValue, WaitingCall } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { AnsweredRequest } from '../request-log/answered-request.ts';
import type { CallsInProgress } from './calls-in-progress.ts';
import { DelayedRefusals } from './delayed-refusals.ts';
import {
  anonymous,
  type CallMarks,
  type EdgeHandler,
  type EdgeReply,
  type Entered,
  type Responder,
  UNMATCHED,
} from './edge.ts';
import { readTraceparent } from './traceparent.ts';

/** The steps that every request of both listeners passes through. */
export interface ObservedOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly inProgress: CallsInProgress;
  newId(nowMs: number): ObjectId;
  observe(answered: AnsweredRequest): void;
}

/** A request in progress. Its id is known from the start, because the data that it creates is stored with it. */
interface Begun extends CallMarks {
  readonly startedMs: number;
}

/** A call that waits. Its request is answered again later, and counts as the same call. */
class Waiting implements WaitingCall {
  readonly entered: Entered;
  readonly begun: Begun;
  readonly wait: CallWait;
  readonly #goOn: (call: Waiting) => MaybePromise<ReplyValue>;

  constructor(
    entered: Entered,
    { begun, wait }: { readonly begun: Begun; readonly wait: CallWait },
    goOn: (call: Waiting) => MaybePromise<ReplyValue>,
  ) {
    this.entered = entered;
    this.begun = begun;
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

type Asked = Pick<RequestValue, 'method' | 'ip' | 'headers'>;

/** Wraps an edge: each request gets an id and a log entry, and the number in progress is bounded. */
export function observed(edge: EdgeHandler, options: ObservedOptions): Responder {
  const { clock, inProgress, newId } = options;
  const refusals = new DelayedRefusals(clock);

  function finish(request: Asked, answered: EdgeReply, begun: Begun): ReplyValue {
    const atMs = clock.wallMs();
    const { requestId, startedMs } = begun;
    const { reply, route, tenantId, keyId } = answered;
    const { status, contentType, headers, body, stream, close } = reply;
    const { method, ip } = request;
    options.observe({
      atMs,
      requestId,
      traceparent: answered.traceparent ?? begun.traceparent,
      tenantId,
      keyId,
      method,
      route,
      status,
      latencyMs: Math.round((clock.monotonicMs() - startedMs) * 100) / 100,
      ip,
      errorCode: errorCode(reply),
    });
    return { status, contentType, headers: `${headers}\r\nX-Request-Id: ${requestId}`, body, stream, close };
  }

  function finishBroken(request: Asked, thrown: unknown, begun: Begun): ReplyValue {
    options.log.error({ err: thrown }, 'the edge threw');
    return finish(request, anonymous(errorReply({ code: 'INTERNAL_ERROR' }), UNMATCHED), begun);
  }

  function begin({ headers: { requestId: given, traceparent: parent } }: Asked): Begun {
    const isEchoed = given !== '' && ECHOED_REQUEST_ID.test(given);
    const requestId = isEchoed ? given : newId(clock.wallMs());
    const traceparent = parent === '' ? undefined : readTraceparent(parent);
    return { requestId, traceparent, startedMs: clock.monotonicMs() };
  }

  /** Sends a refusal after its delay. It only waits, so it does not count as in progress. */
  async function refuseLater(request: Asked, refused: EdgeReply, begun: Begun): Promise<ReplyValue> {
    await refusals.delay();
    return finishSafely(request, refused, begun);
  }

  function finishSafely(request: Asked, answered: EdgeReply, begun: Begun): ReplyValue {
    try {
      return finish(request, answered, begun);
    } catch (thrown) {
      return finishBroken(request, thrown, begun);
    }
  }

  /** Turns a call into one that waits: it no longer counts as in progress, and is not logged yet. */
  function startWait(entered: Entered, { reply, wait }: Waited, begun: Begun): ReplyValue {
    inProgress.beginWait();
    return { ...reply, waiting: new Waiting(entered, { begun, wait }, goOn) };
  }

  function goOn({ entered, begun, wait }: Waiting): MaybePromise<ReplyValue> {
    inProgress.endWait();
    const { requestId, traceparent } = begun;
    return mapMaybePromise(answer(entered, begun, { requestId, traceparent, wait }), (reply) => {
      if (reply.waiting === undefined) wait.leave();
      return reply;
    });
  }

  function settle(entered: Entered, answered: EdgeReply, begun: Begun): MaybePromise<ReplyValue> {
    if (isWaiting(answered)) return startWait(entered, answered, begun);
    const { request } = entered;
    return isOverload(answered)
      ? refuseLater(withoutBody(request), answered, begun)
      : finishSafely(request, answered, begun);
  }

  /** Waits for the edge's asynchronous reply. The call counts as in progress until then. */
  function answerLater(
    entered: Entered,
    answered: Promise<EdgeReply>,
    begun: Begun,
  ): MaybePromise<ReplyValue> {
    inProgress.enter();
    return answered.then(
      (known) => {
        inProgress.leave();
        return settle(entered, known, begun);
      },
      (thrown) => {
        inProgress.leave();
        return finishBroken(entered.request, thrown, begun);
      },
    );
  }

  function answer(entered: Entered, begun: Begun, marks: CallMarks): MaybePromise<ReplyValue> {
    let answered: MaybePromise<EdgeReply>;
    try {
      answered = edge(entered, marks);
    } catch (thrown) {
      return finishBroken(entered.request, thrown, begun);
    }
    return answered instanceof Promise
      ? answerLater(entered, answered, begun)
      : settle(entered, answered, begun);
  }

  return (entered) => {
    const begun = begin(entered.request);
    if (inProgress.isFull) {
      const refused = anonymous(errorReply({ code: 'OVERLOADED' }), UNMATCHED);
      return refuseLater(withoutBody(entered.request), refused, begun);
    }
    return answer(entered, begun, begun);
  };
}

/** The answer of a call that waits. */
type Waited = EdgeReply & { readonly wait: CallWait };

function isWaiting(answered: EdgeReply): answered is Waited {
  return answered.wait !== undefined;
}

/** A body may be large. */
function withoutBody({ method, ip, headers }: RequestValue): Asked {
  return { method, ip, headers };
}

/** True if the reply is `OVERLOADED`. The status is compared first, because reading the code costs more. */
function isOverload({ reply }: EdgeReply): boolean {
  return reply.status === 503 && errorCode(reply) === 'OVERLOADED';
}
