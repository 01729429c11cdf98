import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ObjectId } from '../runtime/object-id.ts';
import type { AnsweredRequest } from './answered-request.ts';
import { errorReply } from './envelope.ts';
import { errorCode } from './error-code.ts';
import type { Answer, ReplyValue, RequestValue } from './exchange.ts';
import { anonymous, type Front, type FrontReply, UNMATCHED } from './front.ts';
import type { RequestKind, RequestWords } from './request-words.ts';

/** What every request passes through, whichever listener took it. */
export interface ObservedOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxInFlight: number;
  newId(nowMs: number): ObjectId;
  wordsOf(kind: RequestKind): RequestWords;
  observe(answered: AnsweredRequest): void;
}

/** A caller's request id is echoed when it is this: visible ASCII that cannot break a header or a log line. */
const WELL_FORMED_REQUEST_ID = /^[\w.:@/+=~-]{1,128}$/;

/** A front with its door: request id, a bound on what is in hand, and one entry for every request. */
export interface ObservedFront {
  readonly answer: Answer;
  inFlight(): number;
}

/** Wraps a front so that no request leaves without an id and an entry, and no more are in hand than fit. */
export function observed(front: Front, options: ObservedOptions): ObservedFront {
  const { clock, maxInFlight, newId } = options;
  let inFlight = 0;

  function finish(request: RequestValue, answered: FrontReply, startedMs: number): ReplyValue {
    const atMs = clock.wallMs();
    const given = request.headers.requestId;
    const requestId = given !== '' && WELL_FORMED_REQUEST_ID.test(given) ? given : newId(atMs);
    const { reply, route, tenantId, keyId } = answered;
    const { status, contentType, headers, body, stream, close } = reply;
    const { method, ip } = request;
    options.observe({
      atMs,
      requestId,
      tenantId,
      keyId,
      method,
      route,
      status,
      words: options.wordsOf({ tenantId, keyId, method, route, status }),
      latencyMs: Math.round((clock.monotonicMs() - startedMs) * 100) / 100,
      ip,
      errorCode: errorCode(reply),
    });
    return { status, contentType, headers: `${headers}\r\nX-Request-Id: ${requestId}`, body, stream, close };
  }

  function broken(request: RequestValue, thrown: unknown, startedMs: number): ReplyValue {
    options.log.error({ err: thrown }, 'the front threw');
    return finish(request, anonymous(errorReply({ code: 'INTERNAL_ERROR' }), UNMATCHED), startedMs);
  }

  async function later(
    request: RequestValue,
    answered: Promise<FrontReply>,
    startedMs: number,
  ): Promise<ReplyValue> {
    try {
      return finish(request, await answered, startedMs);
    } catch (thrown) {
      return broken(request, thrown, startedMs);
    } finally {
      inFlight -= 1;
    }
  }

  return {
    inFlight: () => inFlight,
    answer(request) {
      const startedMs = clock.monotonicMs();
      if (inFlight >= maxInFlight) {
        return finish(request, anonymous(errorReply({ code: 'OVERLOADED' }), UNMATCHED), startedMs);
      }
      try {
        const answered = front(request);
        if (!(answered instanceof Promise)) return finish(request, answered, startedMs);
        inFlight += 1;
        return later(request, answered, startedMs);
      } catch (thrown) {
        return broken(request, thrown, startedMs);
      }
    },
  };
}
