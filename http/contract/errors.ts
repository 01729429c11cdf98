import type { Failure, FailureCode } from '../../actors/failure.ts';
import { RuntimeFailure, type RuntimeFailureCode } from '../../runtime/runtime-failure.ts';

/** Every way a request can fail: those of the layers below, and those of HTTP itself. */
export type ErrorCode = FailureCode | 'METHOD_NOT_ALLOWED' | 'PAYLOAD_TOO_LARGE' | 'INTERNAL_ERROR';

/** The part of a failure that a caller sees. */
export interface ErrorEntry {
  readonly status: number;
  /** The code that callers see (docs/contract.md, Errors); several codes of the program may share one. */
  readonly code: string;
  /** Used if the failure has no message. */
  readonly message: string;
}

function entry(status: number, code: string, message: string): ErrorEntry {
  return { status, code, message };
}

/** HTTP status and public message of each failure. Exhaustive by type. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorEntry } = {
  API_KEY_MISSING: entry(
    401,
    'API_KEY_MISSING',
    'An API key is required: send Authorization: Bearer <API_KEY>.',
  ),
  API_KEY_INVALID: entry(401, 'API_KEY_INVALID', 'This API key is not valid.'),
  API_KEY_REVOKED: entry(401, 'API_KEY_REVOKED', 'This API key was revoked.'),
  API_KEY_EXPIRED: entry(401, 'API_KEY_EXPIRED', 'This API key has expired.'),
  IP_NOT_ALLOWED: entry(403, 'IP_NOT_ALLOWED', 'This API key may not be used from this address.'),
  TENANT_INACTIVE: entry(403, 'TENANT_INACTIVE', 'The account is not active.'),
  FORBIDDEN_PERMISSION: entry(
    403,
    'FORBIDDEN_PERMISSION',
    'This API key lacks the permission for this route.',
  ),
  FORBIDDEN_ROLE: entry(403, 'FORBIDDEN_ROLE', "The role of this operator's token does not allow this."),
  RATE_LIMITED: entry(429, 'RATE_LIMITED', 'Too many requests with this key.'),
  QUOTA_EXCEEDED: entry(429, 'QUOTA_EXCEEDED', "The plan's API calls of this month are used up."),
  SHOP_LIMIT_REACHED: entry(402, 'QUOTA_EXCEEDED', "The plan's shop limit is reached."),
  SHOP_NOT_FOUND: entry(404, 'SHOP_NOT_FOUND', 'This shop does not exist.'),
  AMBIGUOUS_SHOP: entry(409, 'AMBIGUOUS_SHOP', 'Several shops have this name; use one of the ids.'),
  SHOP_NAME_TAKEN: entry(409, 'SHOP_NAME_TAKEN', 'Another shop has this name.'),
  TENANT_OWNER_MISSING: entry(409, 'TENANT_OWNER_MISSING', 'The account has no owner on record.'),
  MESSAGE_NOT_FOUND: entry(404, 'MESSAGE_NOT_FOUND', 'This message does not exist.'),
  MEDIA_NOT_FOUND: entry(404, 'MEDIA_NOT_FOUND', 'This message has no attachment that can be fetched.'),
  MEDIA_GONE: entry(404, 'MEDIA_GONE', 'The chat network no longer has this attachment.'),
  MEDIA_TOO_LARGE: entry(422, 'MEDIA_TOO_LARGE', 'The attachment is larger than 100 MiB.'),
  MEDIA_UNAVAILABLE: entry(
    503,
    'MEDIA_UNAVAILABLE',
    'The chat network could not return this attachment; try again.',
  ),
  SCHEDULED_NOT_FOUND: entry(404, 'SCHEDULED_NOT_FOUND', 'This scheduled send does not exist.'),
  SCHEDULED_LIMIT_REACHED: entry(
    409,
    'SCHEDULED_LIMIT_REACHED',
    'The shop has 1,000 scheduled sends waiting; cancel some, or schedule later.',
  ),
  BATCH_NOT_FOUND: entry(404, 'BATCH_NOT_FOUND', 'This batch does not exist.'),
  BATCH_LIMIT_REACHED: entry(
    409,
    'BATCH_LIMIT_REACHED',
    'The shop has 20 batches that have not ended; cancel one, or wait for one to end.',
  ),
  BATCH_STARTED: entry(409, 'BATCH_STARTED', 'The batch has started; no more recipients can be added.'),
  BATCH_ENDED: entry(409, 'BATCH_ENDED', 'The batch has ended.'),
  NOT_CANCELLABLE: entry(409, 'NOT_CANCELLABLE', 'It is already being sent, or has ended.'),
  DOC_ARTICLE_NOT_FOUND: entry(404, 'DOC_ARTICLE_NOT_FOUND', 'This article does not exist.'),
  CHANNEL_NEVER_CONFIGURED: entry(404, 'MSGAPP_NOT_CONFIGURED', 'This shop never had a channel.'),
  CHANNEL_NOT_STARTED: entry(409, 'MSGAPP_NOT_CONFIGURED', 'Start the connection with POST connect first.'),
  MSGAPP_ALREADY_LINKED: entry(
    409,
    'MSGAPP_ALREADY_LINKED',
    'The shop is linked to its number already; POST connect resumes its session.',
  ),
  PAIRING_CODE_REFUSED: entry(422, 'PAIRING_CODE_REFUSED', 'The chat network gives no code for this number.'),
  PAIRING_RATE_LIMITED: entry(
    429,
    'PAIRING_RATE_LIMITED',
    'Too many pairing codes were requested; try again later.',
  ),
  MSGAPP_NOT_CONNECTED: entry(503, 'MSGAPP_NOT_CONNECTED', "The shop's number is not connected."),
  MSGAPP_SESSION_LOST: entry(
    503,
    'MSGAPP_SESSION_LOST',
    "The shop's session was lost; connect the number again.",
  ),
  BOT_SERVICE_UNREACHABLE: entry(503, 'BOT_SERVICE_UNREACHABLE', 'The sending component is unavailable.'),
  MESSAGE_TOO_LONG: entry(422, 'MESSAGE_TOO_LONG', 'The text is longer than 4096 characters.'),
  TOO_MANY_MEDIA: entry(422, 'TOO_MANY_MEDIA', 'A message carries at most one attachment.'),
  EMPTY_MESSAGE: entry(422, 'EMPTY_MESSAGE', 'The message has no visible text and no attachment.'),
  RECIPIENT_OPTED_OUT: entry(422, 'RECIPIENT_OPTED_OUT', 'The recipient asked for no more messages.'),
  BULK_PATTERN_BLOCKED: entry(429, 'BULK_PATTERN_BLOCKED', 'Too many numbers got this text within an hour.'),
  RECIPIENT_RATE_LIMITED: entry(
    429,
    'RECIPIENT_RATE_LIMITED',
    'This recipient got too many messages, or one too recently.',
  ),
  DAILY_CAP_REACHED: entry(429, 'DAILY_CAP_REACHED', "The shop's daily cap is reached."),
  HOURLY_CAP_REACHED: entry(429, 'HOURLY_CAP_REACHED', "The shop's hourly cap is reached."),
  COLD_RECIPIENT_CAP_REACHED: entry(
    429,
    'COLD_RECIPIENT_CAP_REACHED',
    'The daily cap for cold recipients is reached.',
  ),
  DECLARED_RECIPIENT_CAP_REACHED: entry(
    429,
    'DECLARED_RECIPIENT_CAP_REACHED',
    'The daily cap for declared recipients is reached.',
  ),
  GROUP_CONTEXT_REQUIRED: entry(
    422,
    'GROUP_CONTEXT_REQUIRED',
    "The shop's number is not in this group, or the group does not exist.",
  ),
  GROUP_NOT_ADMINISTERED: entry(
    403,
    'GROUP_NOT_ADMINISTERED',
    "The shop's number does not administer this group.",
  ),
  GROUP_DAILY_CAP_REACHED: entry(429, 'GROUP_DAILY_CAP_REACHED', 'The daily cap for groups is reached.'),
  STATUSES_DAILY_CAP_REACHED: entry(
    429,
    'STATUSES_DAILY_CAP_REACHED',
    'The daily cap for statuses is reached.',
  ),
  DECLARE_BATCH_TOO_LARGE: entry(
    429,
    'DECLARE_BATCH_TOO_LARGE',
    'The call has too many contacts; none was declared.',
  ),
  DECLARE_DAILY_CAP_REACHED: entry(
    429,
    'DECLARE_DAILY_CAP_REACHED',
    'The daily limit of new declarations is reached; none was declared.',
  ),
  EGRESS_UNREACHABLE: entry(
    422,
    'EGRESS_UNREACHABLE',
    'No connection to the chat network can be made through this proxy; nothing was changed.',
  ),
  WEBHOOK_NOT_FOUND: entry(404, 'WEBHOOK_NOT_FOUND', 'This webhook does not exist.'),
  WEBHOOK_LIMIT_REACHED: entry(
    409,
    'WEBHOOK_LIMIT_REACHED',
    'The account has reached its limit of webhooks.',
  ),
  VALIDATION_ERROR: entry(422, 'VALIDATION_ERROR', 'The request is not valid.'),
  NOT_FOUND: entry(404, 'NOT_FOUND', 'This path or resource does not exist.'),
  CONFLICT: entry(409, 'CONFLICT', 'The request conflicts with the current state.'),
  METHOD_NOT_ALLOWED: entry(405, 'METHOD_NOT_ALLOWED', 'This path does not support this method.'),
  PAYLOAD_TOO_LARGE: entry(413, 'PAYLOAD_TOO_LARGE', 'The body is larger than 64 KiB.'),
  OVERLOADED: entry(503, 'OVERLOADED', 'Too many requests are waiting; try again shortly.'),
  SERVICE_UNAVAILABLE: entry(503, 'SERVICE_UNAVAILABLE', 'The service cannot answer now; try again shortly.'),
  INTERNAL_ERROR: entry(500, 'INTERNAL_ERROR', 'An internal error occurred. Report the request id.'),
};

/** Seconds after which to retry, if the layer that failed named none. */
const DEFAULT_RETRY_AFTER_SECONDS: { readonly [Code in ErrorCode]?: number } = {
  OVERLOADED: 1,
  SERVICE_UNAVAILABLE: 1,
  // A smaller batch may come at once.
  DECLARE_BATCH_TOO_LARGE: 1,
};

/**
 * `retryAfter` of a 429 that no wait can lift, such as a group larger than its whole budget. A day, so that a client
 * that sleeps and retries does not hammer. The policy's message says that waiting does not help.
 */
const HOPELESS_RETRY_AFTER_SECONDS = 86_400;

/** Public codes of the runtime's failures (docs/contract.md, Codes of the service). */
const RUNTIME_FAILURES: { readonly [Code in RuntimeFailureCode]: ErrorCode } = {
  MAILBOX_FULL: 'OVERLOADED',
  NODE_BUSY: 'OVERLOADED',
  SHARD_NOT_OWNED: 'SERVICE_UNAVAILABLE',
  SUSPENDED: 'BOT_SERVICE_UNREACHABLE',
  POISONED: 'INTERNAL_ERROR',
  STORE_UNAVAILABLE: 'SERVICE_UNAVAILABLE',
  OUTCOME_UNKNOWN: 'SERVICE_UNAVAILABLE',
  DEADLINE_EXCEEDED: 'SERVICE_UNAVAILABLE',
  STOPPING: 'SERVICE_UNAVAILABLE',
};

/** A failure in HTTP: any code of the table, with the details of the layer that failed. */
export type HttpFailure = Omit<Failure, 'code'> & { readonly code: ErrorCode };

/** The failure for a thrown value. A broken invariant is INTERNAL_ERROR and shows no detail. */
export function failureOfThrown(thrown: unknown): HttpFailure {
  if (!(thrown instanceof RuntimeFailure)) return { code: 'INTERNAL_ERROR' };
  const code = RUNTIME_FAILURES[thrown.code];
  return {
    code,
    ...(thrown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: thrown.retryAfterSeconds }),
  };
}

/** The seconds to put into `Retry-After` and `error.retryAfter`: for every 429, and a 503 whose end is known. */
export function retryAfterSeconds(failure: HttpFailure): number | undefined {
  const { status } = ERRORS[failure.code];
  if (status !== 429 && status !== 503) return undefined;
  const known = failure.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS[failure.code];
  return known ?? (status === 429 ? HOPELESS_RETRY_AFTER_SECONDS : undefined);
}
