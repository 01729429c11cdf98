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

/** Status, message, and the code that callers see if it is not the program's own. */
type ErrorRow = readonly [status: number, message: string, code?: string];

const TABLE: { readonly [Code in ErrorCode]: ErrorRow } = {
  API_KEY_MISSING: [401, 'An API key is required: send Authorization: Bearer <API_KEY>.'],
  API_KEY_INVALID: [401, 'This API key is not valid.'],
  API_KEY_REVOKED: [401, 'This API key was revoked.'],
  API_KEY_EXPIRED: [401, 'This API key has expired.'],
  IP_NOT_ALLOWED: [403, 'This API key may not be used from this address.'],
  TENANT_INACTIVE: [403, 'The account is not active.'],
  FORBIDDEN_PERMISSION: [403, 'This API key lacks the permission for this route.'],
  FORBIDDEN_ROLE: [403, "The role of this operator's token does not allow this."],
  RATE_LIMITED: [429, 'Too many requests with this key.'],
  QUOTA_EXCEEDED: [429, "The plan's API calls for this month are used up."],
  SHOP_LIMIT_REACHED: [402, "The plan's shop limit is reached.", 'QUOTA_EXCEEDED'],
  SHOP_NOT_FOUND: [404, 'This shop does not exist.'],
  AMBIGUOUS_SHOP: [409, 'Several shops have this name; use one of the ids.'],
  SHOP_NAME_TAKEN: [409, 'Another shop has this name.'],
  TENANT_OWNER_MISSING: [409, 'The account has no owner on record.'],
  MESSAGE_NOT_FOUND: [404, 'This message does not exist.'],
  MEDIA_NOT_FOUND: [404, 'This message has no attachment that can be fetched.'],
  MEDIA_GONE: [404, 'The chat network no longer has this attachment.'],
  MEDIA_TOO_LARGE: [422, 'The attachment is larger than 100 MiB.'],
  MEDIA_UNAVAILABLE: [503, 'The chat network could not return this attachment; try again.'],
  SCHEDULED_NOT_FOUND: [404, 'This scheduled send does not exist.'],
  SCHEDULED_LIMIT_REACHED: [
    409,
    'The shop has 1,000 scheduled sends waiting; cancel some, or schedule later.',
  ],
  BATCH_NOT_FOUND: [404, 'This batch does not exist.'],
  BATCH_LIMIT_REACHED: [
    409,
    'The shop has 20 batches that have not ended; cancel one, or wait for one to end.',
  ],
  BATCH_STARTED: [409, 'The batch has started; no more recipients can be added.'],
  BATCH_ENDED: [409, 'The batch has ended.'],
  NOT_CANCELLABLE: [409, 'It can no longer be cancelled: it is being sent, or has ended.'],
  DOC_ARTICLE_NOT_FOUND: [404, 'This article does not exist.'],
  CHANNEL_NEVER_CONFIGURED: [404, 'This shop never had a channel.', 'MSGAPP_NOT_CONFIGURED'],
  CHANNEL_NOT_STARTED: [409, 'Start the connection with POST connect first.', 'MSGAPP_NOT_CONFIGURED'],
  MSGAPP_ALREADY_LINKED: [409, 'The shop is already linked to its number; POST connect resumes its session.'],
  PAIRING_CODE_REFUSED: [422, 'The chat network gives no code for this number.'],
  PAIRING_RATE_LIMITED: [429, 'Too many pairing codes were requested; try again later.'],
  MSGAPP_NOT_CONNECTED: [503, "The shop's number is not connected."],
  MSGAPP_SESSION_LOST: [503, "The shop's session was lost; connect the number again."],
  BOT_SERVICE_UNREACHABLE: [503, 'The sending component is unavailable.'],
  MESSAGE_TOO_LONG: [422, 'The text is longer than 4,096 characters.'],
  TOO_MANY_MEDIA: [422, 'A message carries at most one attachment.'],
  EMPTY_MESSAGE: [422, 'The message has no visible text and no attachment.'],
  RECIPIENT_OPTED_OUT: [422, 'The recipient asked for no more messages.'],
  BULK_PATTERN_BLOCKED: [429, 'Too many numbers got this content within an hour.'],
  RECIPIENT_RATE_LIMITED: [429, 'This recipient got too many messages, or one too recently.'],
  DAILY_CAP_REACHED: [429, "The shop's daily cap is reached."],
  HOURLY_CAP_REACHED: [429, "The shop's hourly cap is reached."],
  COLD_RECIPIENT_CAP_REACHED: [429, 'The daily cap for cold recipients is reached.'],
  DECLARED_RECIPIENT_CAP_REACHED: [429, 'The daily cap for declared recipients is reached.'],
  GROUP_CONTEXT_REQUIRED: [422, "The shop's number is not in this group, or the group does not exist."],
  GROUP_NOT_ADMINISTERED: [403, "The shop's number does not administer this group."],
  GROUP_DAILY_CAP_REACHED: [429, 'The daily cap for groups is reached.'],
  STATUSES_DAILY_CAP_REACHED: [429, 'The daily cap for statuses is reached.'],
  DECLARE_BATCH_TOO_LARGE: [429, 'The call has too many contacts. None was declared.'],
  DECLARE_DAILY_CAP_REACHED: [
    429,
    'The daily limit of new declarations is reached. None of the call was declared.',
  ],
  EGRESS_UNREACHABLE: [
    422,
    'No connection to the chat network can be made through this proxy; nothing was changed.',
  ],
  WEBHOOK_NOT_FOUND: [404, 'This webhook does not exist.'],
  WEBHOOK_LIMIT_REACHED: [409, 'The account has reached its limit of webhooks.'],
  VALIDATION_ERROR: [422, 'The request is not valid.'],
  NOT_FOUND: [404, 'This path or resource does not exist.'],
  CONFLICT: [409, 'The request conflicts with the current state.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not support this method.'],
  PAYLOAD_TOO_LARGE: [413, 'The body is larger than 64 KiB.'],
  OVERLOADED: [503, 'Too many requests are waiting; try again shortly.'],
  SERVICE_UNAVAILABLE: [503, 'The service cannot answer now; try again shortly.'],
  INTERNAL_ERROR: [500, 'An internal error occurred. Report the request id.'],
};

/** HTTP status and public message of each failure. Exhaustive by type. */
export const ERRORS = Object.fromEntries(
  Object.entries(TABLE).map(([ownCode, [status, message, code = ownCode]]) => [
    ownCode,
    { status, code, message },
  ]),
) as { readonly [Code in ErrorCode]: ErrorEntry };

/** The failures of any call with a key, at any endpoint. */
export const COMMON_ERRORS = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'API_KEY_REVOKED',
  'API_KEY_EXPIRED',
  'IP_NOT_ALLOWED',
  'TENANT_INACTIVE',
  'PAYLOAD_TOO_LARGE',
  'VALIDATION_ERROR',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'OVERLOADED',
  'SERVICE_UNAVAILABLE',
  'BOT_SERVICE_UNREACHABLE',
] as const satisfies readonly ErrorCode[];

/** One of them that a handler may return. */
export type CommonError = Extract<(typeof COMMON_ERRORS)[number], FailureCode>;

/** The failures of any call of an operator. */
export const COMMON_OPERATOR_ERRORS = [
  'API_KEY_MISSING',
  'API_KEY_INVALID',
  'FORBIDDEN_ROLE',
  'RATE_LIMITED',
  'PAYLOAD_TOO_LARGE',
  'VALIDATION_ERROR',
  'INTERNAL_ERROR',
  'OVERLOADED',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[];

/** One of them that a handler may return. */
export type CommonOperatorError = Extract<(typeof COMMON_OPERATOR_ERRORS)[number], FailureCode>;

/** The seconds after which to retry, if the layer that failed gave none. */
const DEFAULT_RETRY_AFTER_SECONDS: { readonly [Code in ErrorCode]?: number } = {
  OVERLOADED: 1,
  SERVICE_UNAVAILABLE: 1,
  // A smaller batch may be sent at once.
  DECLARE_BATCH_TOO_LARGE: 1,
};

/**
 * `retryAfter` of a 429 that no wait can lift, such as a group larger than its whole budget. A day, so that a client
 * that obeys it does not retry all day. The policy's message says that waiting does not help.
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

/** A failure with any code of the table, and with the details of the layer that failed. */
export type HttpFailure = Omit<Failure, 'code'> & { readonly code: ErrorCode };

/** Returns the failure for a thrown value. A broken invariant is INTERNAL_ERROR and shows no detail. */
export function failureOfThrown(error: unknown): HttpFailure {
  if (!(error instanceof RuntimeFailure)) return { code: 'INTERNAL_ERROR' };
  const code = RUNTIME_FAILURES[error.code];
  return {
    code,
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  };
}

/**
 * Returns the seconds for `Retry-After` and `error.retryAfter`. Every 429 has them, and a 503 with a known or a default
 * time.
 */
export function retryAfterSeconds(failure: HttpFailure): number | undefined {
  const { status } = ERRORS[failure.code];
  if (status !== 429 && status !== 503) return undefined;
  const retryAfterSeconds = failure.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS[failure.code];
  return retryAfterSeconds ?? (status === 429 ? HOPELESS_RETRY_AFTER_SECONDS : undefined);
}
