import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { errorReply } from '../contract/envelope.ts';
import { headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
import { problem } from '../contract/validation.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { Match } from './router.ts';

/** A reply, and the facts about its request that logs and metrics need. */
export interface EdgeReply {
  readonly reply: ReplyValue;
  /** The route's template, or `unmatched` if there is none. */
  readonly route: string;
  readonly tenantId: string | undefined;
  readonly keyId: string | undefined;
  /** The `traceparent` of the request's span; absent without tracing. */
  readonly traceparent?: string;
  /** Set if the call should wait for a better reply. After the wait has ended, the edge is asked again with it. */
  readonly wait?: CallWait | undefined;
}

/** The ids by which a request is found in logs, records and traces. */
export interface CallMarks {
  /** The value of the reply's `X-Request-Id`. */
  readonly requestId: string;
  /** W3C Trace Context, version 00; undefined without one. */
  readonly traceparent: string | undefined;
  /** The wait that has ended, if the call waited. */
  readonly wait?: CallWait | undefined;
}

/**
 * A request at a listener. It is made from the head alone, so the route and the key are looked up once, for the body and
 * for the answer.
 */
export interface Entered {
  readonly request: RequestValue;
  /**
   * False if the head decides the reply: no such route or method, no well-formed key, a method without a body. Most
   * requests of strangers are refused this way, and nothing of their bodies is kept.
   */
  readonly takesBody: boolean;
  /**
   * Returns the account for a body that arrives in pieces. Undefined if the key is unknown, which also decides the
   * reply. Rejects if the key cannot be looked up now.
   */
  account(): MaybePromise<string | undefined>;
  /** Answers the request, whose body has come. A call that waits is asked again. Never rejects. */
  answer(call: CallMarks): MaybePromise<EdgeReply>;
}

/** A step on the way to the answer of a request. Never rejects. */
export type EdgeHandler = (entered: Entered, call: CallMarks) => MaybePromise<EdgeReply>;

/** Replies to requests at a listener. Never rejects. */
export type Responder = (entered: Entered) => MaybePromise<ReplyValue>;

/** True if the method has no body that is read. */
export function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The route of a path that leads nowhere (docs/contract.md, The operators' API). */
export const UNMATCHED = 'unmatched';

/** A reply to an unknown caller. */
export function anonymous(reply: ReplyValue, route: string): EdgeReply {
  return { reply, route, tenantId: undefined, keyId: undefined };
}

/** Refuses a path that leads nowhere, or a method that its route does not have. That reply needs no key. */
export function noEndpoint(match: Match<never> | undefined): EdgeReply {
  if (match === undefined) return anonymous(errorReply({ code: 'NOT_FOUND' }), UNMATCHED);
  const { path, methods } = match.route;
  return anonymous(errorReply({ code: 'METHOD_NOT_ALLOWED' }, headerLines({ Allow: methods })), path);
}

/** Refuses a body that is not to be read; undefined if it may be. */
export function bodyRefusal({ bodyFault }: RequestValue, route: string): EdgeReply | undefined {
  if (bodyFault === 'too_large') {
    return anonymous({ ...errorReply({ code: 'PAYLOAD_TOO_LARGE' }), close: true }, route);
  }
  if (bodyFault === 'crowded') {
    const message = 'Too many bodies are being received; send it again shortly, and in one piece.';
    return anonymous(errorReply({ code: 'OVERLOADED', message }), route);
  }
  if (bodyFault === 'length_repeated') {
    const fields = [problem('content-length', 'is given more than once, or without a number')];
    return anonymous({ ...errorReply({ code: 'VALIDATION_ERROR', fields }), close: true }, route);
  }
  return undefined;
}
