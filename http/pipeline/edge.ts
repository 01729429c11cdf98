import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { errorReply } from '../contract/envelope.ts';
import { type CallIds, headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
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
  /**
   * Set if the call should wait for a better reply. The call is answered once more, with this wait, after it has ended.
   */
  readonly wait?: CallWait | undefined;
}

/**
 * A call at a listener. It is made from the head alone. So the route and the key are looked up once, for the body and
 * for the reply.
 */
export interface EdgeCall {
  readonly request: RequestValue;
  /**
   * False if the body is not read: the method has none, or the head decides the reply. Most requests of strangers are
   * refused by their heads, and nothing of their bodies is kept.
   */
  readonly takesBody: boolean;
  /**
   * Returns the tenant whose share of memory a body in pieces takes, or `operators`. Undefined if the key is unknown,
   * which also decides the reply. Rejects if the key cannot be looked up now.
   */
  tenant(): MaybePromise<string | undefined>;
  /**
   * Answers the request, whose body has come. `wait`: the one that has ended, if the call waited. Rejects as an
   * `EdgeResponder` does.
   */
  answer(ids: CallIds, wait?: CallWait): MaybePromise<EdgeReply>;
}

/**
 * Answers calls at an edge. Each refusal and each failure of the runtime is a reply. Only a defect makes it throw or
 * reject. `observed` replies `INTERNAL_ERROR` to such a call.
 */
export type EdgeResponder = (call: EdgeCall, ids: CallIds, wait?: CallWait) => MaybePromise<EdgeReply>;

/** Answers calls at a listener. Never rejects. */
export type Responder = (call: EdgeCall) => MaybePromise<ReplyValue>;

/** True if no body is read with this method. */
export function isReadMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The route of a path without an endpoint (docs/contract.md, The operators' API). */
export const UNMATCHED = 'unmatched';

/** Returns a reply to an unknown caller. */
export function anonymous(reply: ReplyValue, route: string): EdgeReply {
  return { reply, route, tenantId: undefined, keyId: undefined };
}

/** Returns a call whose head decides the reply. */
export function refusedByHead(request: RequestValue, refuse: () => EdgeReply): EdgeCall {
  return { request, takesBody: false, tenant: () => undefined, answer: refuse };
}

/** Returns a call with a path without a route, or with a method that the route does not have. It needs no key. */
export function withoutEndpoint(request: RequestValue, match: Match<never> | undefined): EdgeCall {
  return refusedByHead(request, () => noEndpoint(match));
}

function noEndpoint(match: Match<never> | undefined): EdgeReply {
  if (match === undefined) return anonymous(errorReply({ code: 'NOT_FOUND' }), UNMATCHED);
  const { path, methods } = match.route;
  return anonymous(errorReply({ code: 'METHOD_NOT_ALLOWED' }, headerLines({ Allow: methods })), path);
}

/** Returns the refusal of a body that must not be read. Undefined if it may be read. */
export function bodyRefusal({ bodyFault }: RequestValue, route: string): EdgeReply | undefined {
  if (bodyFault === 'too_large')
    return anonymous({ ...errorReply({ code: 'PAYLOAD_TOO_LARGE' }), closesConnection: true }, route);
  if (bodyFault === 'crowded') {
    const message = 'Too many bodies are being received; send it again shortly, and in one piece.';
    return anonymous(errorReply({ code: 'OVERLOADED', message }), route);
  }
  if (bodyFault === 'length_repeated') {
    const fields = [problem('content-length', 'is given more than once, or without a number')];
    return anonymous({ ...errorReply({ code: 'VALIDATION_ERROR', fields }), closesConnection: true }, route);
  }
  return undefined;
}
