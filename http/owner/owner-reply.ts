import type { InboundDownload } from '../../actors/inbound-content.ts';
import type { Logger } from '../../runtime/logger.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { Endpoint, HandlerResult } from '../contract/endpoint.ts';
import { errorReply, JSON_TYPE, successBody } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { HeaderLines, ReplyValue } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';

/** The owner's reply, and what the node that took the call must do with it. */
export interface OwnerReply {
  readonly reply: ReplyValue;
  /** The id of the key that called; undefined if it is not known. */
  readonly keyId: string | undefined;
  /** True if the tenant has moved and nothing was done here. Another owner may be asked then. */
  readonly hasMoved?: boolean;
  /** A file that the node that took the call sends instead of the reply's body. */
  readonly file?: InboundDownload | undefined;
  /** Set if the call should wait for a better reply. Repeat the call with it after the wait has ended, or leave it. */
  readonly wait?: CallWait | undefined;
}

/** Returns the reply that shows the result of a handler. */
export function replyOf(
  endpoint: Pick<Endpoint<never>, 'replies' | 'status'>,
  result: HandlerResult,
  rate: HeaderLines,
): ReplyValue {
  if ('failure' in result) return errorReply(result.failure, rate);
  const {
    status,
    data,
    headers = '',
  } = 'status' in result ? result : { status: endpoint.status, data: result.value };
  const writeData: ((data: never) => string) | undefined = endpoint.replies[status as 200]?.write;
  const body = writeData === undefined ? successBody(data) : writeData(data as never);
  return { status, contentType: JSON_TYPE, headers: rate + headers, body };
}

/** Returns the reply to a thrown value. A broken invariant goes to the log, since the caller is not shown it. */
export function replyToThrown(
  endpoint: Endpoint<never>,
  error: unknown,
  log: Logger,
  rate: HeaderLines = '',
): ReplyValue {
  const failure = failureOfThrown(error);
  if (failure.code === 'INTERNAL_ERROR')
    log.error({ err: error, route: `${endpoint.method} ${endpoint.path}` }, 'an endpoint threw');
  return errorReply(failure, rate);
}

/** Returns the reply to a request that could not be forwarded. */
export function replyToUnforwarded(error: unknown): OwnerReply {
  return { reply: errorReply(failureOfThrown(error)), keyId: undefined, hasMoved: isOfMovedTenant(error) };
}

/**
 * True if another node must be asked and this one did nothing. The runtime never reports this for a command that may
 * have been carried out. An endpoint does the rest of its work after such a command inside `afterCommand`.
 */
export function isOfMovedTenant(error: unknown): boolean {
  return error instanceof RuntimeFailure && (error.code === 'SHARD_NOT_OWNED' || error.code === 'STOPPING');
}
