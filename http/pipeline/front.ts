import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import { headerLines, type ReplyValue, type RequestValue } from '../contract/exchange.ts';
import { problem } from '../contract/validation.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { Router } from './router.ts';

/** A reply, and the facts about its request that logs and metrics need. */
export interface EdgeReply {
  readonly reply: ReplyValue;
  /** The route's template; `unmatched` where there is none. */
  readonly route: string;
  readonly tenantId: string | undefined;
  readonly keyId: string | undefined;
  /** The `traceparent` of the request's span; absent without tracing. */
  readonly traceparent?: string;
  /** Set if the call should wait for a better reply. After the wait has ended, the front is asked again with it. */
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

/** The edge part of one listener. Never rejects. */
export type EdgeHandler = (request: RequestValue, call: CallMarks) => MaybePromise<EdgeReply>;

/**
 * Decides about a request's body from its head alone. Most requests of strangers are refused by the head, so nothing of
 * their bodies is kept.
 */
export interface BodyPolicy {
  /** True where the head decides the answer: no such route or method, no well-formed key, a method without a body. */
  headDecides(head: RequestValue): boolean;
  /**
   * The account that a body which comes in pieces counts on; undefined: the key opens nothing, which decides
   * the answer as well. Rejects when the key cannot be looked up now.
   */
  accountOf(head: RequestValue): MaybePromise<string | undefined>;
}

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

/** The endpoint of a request, or the reply if there is none. That reply needs no key. */
export type Routed<Services> =
  | {
      readonly found: true;
      readonly endpoint: Endpoint<Services>;
      readonly values: readonly string[];
      readonly route: string;
    }
  | { readonly found: false; readonly refused: EdgeReply };

/** Finds the endpoint, and refuses unknown paths, wrong methods and bodies that are not to be read. */
export function routed<Services>(router: Router<Services>, request: RequestValue): Routed<Services> {
  const match = router.match(request.path);
  if (match === undefined) {
    return { found: false, refused: anonymous(errorReply({ code: 'NOT_FOUND' }), UNMATCHED) };
  }
  const { route, values } = match;
  const endpoint = route.byMethod.get(request.method);
  if (endpoint === undefined) {
    const refusal = errorReply({ code: 'METHOD_NOT_ALLOWED' }, headerLines({ Allow: route.methods }));
    return { found: false, refused: anonymous(refusal, route.path) };
  }
  if (request.bodyFault === 'too_large') {
    const refusal = { ...errorReply({ code: 'PAYLOAD_TOO_LARGE' }), close: true };
    return { found: false, refused: anonymous(refusal, route.path) };
  }
  if (request.bodyFault === 'crowded') {
    const message = 'Too many bodies are on their way; send it again shortly, and in one piece.';
    return { found: false, refused: anonymous(errorReply({ code: 'OVERLOADED', message }), route.path) };
  }
  if (request.bodyFault === 'length_repeated') {
    const fields = [problem('content-length', 'is given more than once, or without a number')];
    const refusal = { ...errorReply({ code: 'VALIDATION_ERROR', fields }), close: true };
    return { found: false, refused: anonymous(refusal, route.path) };
  }
  return { found: true, endpoint, values, route: route.path };
}
