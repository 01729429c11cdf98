import type { MessagePolicyCode, PolicyCode, PolicyRefusal, StatusPolicyCode } from '../policy/refusal.ts';

/**
 * Expected failures of the actors and of the API. The policy's refusals are among them. Codes that only `http/` gives
 * are here too, because a handler returns an `Outcome`. http/contract/errors.ts gives each its status.
 */
export type FailureCode =
  | PolicyCode
  | 'API_KEY_MISSING'
  | 'API_KEY_INVALID'
  | 'API_KEY_REVOKED'
  | 'API_KEY_EXPIRED'
  | 'IP_NOT_ALLOWED'
  | 'TENANT_INACTIVE'
  | 'FORBIDDEN_PERMISSION'
  | 'RATE_LIMITED'
  | 'QUOTA_EXCEEDED'
  | 'SHOP_LIMIT_REACHED'
  | 'SHOP_NOT_FOUND'
  | 'AMBIGUOUS_SHOP'
  | 'SHOP_NAME_TAKEN'
  | 'TENANT_OWNER_MISSING'
  | 'MESSAGE_NOT_FOUND'
  /** The message brings no attachment that could be fetched. */
  | 'MEDIA_NOT_FOUND'
  /** The chat network has dropped the attachment. */
  | 'MEDIA_GONE'
  | 'MEDIA_TOO_LARGE'
  /** The chat network's hosts do not give the attachment now. */
  | 'MEDIA_UNAVAILABLE'
  | 'SCHEDULED_NOT_FOUND'
  /** The shop has as many scheduled sends as one may have. */
  | 'SCHEDULED_LIMIT_REACHED'
  | 'BATCH_NOT_FOUND'
  /** The shop has as many batches as one may have. */
  | 'BATCH_LIMIT_REACHED'
  /** A message of the batch was accepted. */
  | 'BATCH_STARTED'
  /** The batch has ended in another way than requested. */
  | 'BATCH_ENDED'
  /** The message is being sent, or has ended in another way. */
  | 'NOT_CANCELLABLE'
  | 'DOC_ARTICLE_NOT_FOUND'
  /** Disconnect on a shop that never had a channel. */
  | 'CHANNEL_NEVER_CONFIGURED'
  /** GET connect before any POST connect. */
  | 'CHANNEL_NOT_STARTED'
  /** A code to type was requested, but the shop is linked to its number already. */
  | 'MSGAPP_ALREADY_LINKED'
  /** The chat network gives no code for that number. */
  | 'PAIRING_CODE_REFUSED'
  /** The chat network received too many requests for codes. */
  | 'PAIRING_RATE_LIMITED'
  | 'MSGAPP_NOT_CONNECTED'
  | 'MSGAPP_SESSION_LOST'
  | 'BOT_SERVICE_UNREACHABLE'
  /** No connection to the chat network succeeded through the proxy for a shop. */
  | 'EGRESS_UNREACHABLE'
  | 'WEBHOOK_NOT_FOUND'
  | 'WEBHOOK_LIMIT_REACHED'
  | 'VALIDATION_ERROR'
  /** The operator's role is too small for the endpoint. */
  | 'FORBIDDEN_ROLE'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'OVERLOADED'
  | 'SERVICE_UNAVAILABLE';

/** The reason why a shop's channel takes nothing now. */
export type ChannelCode = 'MSGAPP_NOT_CONNECTED' | 'MSGAPP_SESSION_LOST' | 'BOT_SERVICE_UNREACHABLE';

/** The reason why a message is refused, once its shape is right. */
export type SendCode = MessagePolicyCode | ChannelCode;

/** The reason why a status is refused, once its shape is right. */
export type StatusCode = StatusPolicyCode | ChannelCode;

/** One invalid field: a dotted path (`contacts.0.phone`) and the problem. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * The reason why a request failed. Nothing of what it asked for was done, or it was erased before the reply
 * (`BATCH_NOT_FOUND` of `createBatch`). A call that the quota refuses is counted.
 */
export interface Failure<Code extends FailureCode = FailureCode> {
  readonly code: Code;
  /** The message for the caller. If absent, the default message of the code. */
  readonly message?: string;
  /** Whole seconds until it may succeed, if known. */
  readonly retryAfterSeconds?: number;
  readonly fields?: readonly FieldProblem[];
  /** Ids of the shops that share a name. */
  readonly candidates?: readonly string[];
  /** Set if a cursor of events was refused: the cursor to continue from. */
  readonly nextCursor?: string;
}

export interface Failed<Code extends FailureCode = FailureCode> {
  readonly ok: false;
  readonly failure: Failure<Code>;
}

/** The value of a success, or the failure, with one of the given codes. */
export type Outcome<Value, Code extends FailureCode = FailureCode> =
  | { readonly ok: true; readonly value: Value }
  | Failed<Code>;

/** Returns a success with its value. */
export function done<Value>(value: Value): Outcome<Value, never> {
  return { ok: true, value };
}

/** Returns the outcome with another value. A failure stays as it is. */
export function mapOutcome<Value, Next, Code extends FailureCode>(
  outcome: Outcome<Value, Code>,
  next: (value: Value) => Next,
): Outcome<Next, Code> {
  return outcome.ok ? done(next(outcome.value)) : outcome;
}

/** Returns the outcome with another code instead of one of its codes. */
export function renamedFailure<Value, Code extends FailureCode, From extends Code, To extends FailureCode>(
  outcome: Outcome<Value, Code>,
  { from, to }: { readonly from: From; readonly to: To },
): Outcome<Value, Exclude<Code, From> | To> {
  if (!outcome.ok && outcome.failure.code === from) return failed(to);
  return outcome as Outcome<Value, Exclude<Code, From>>;
}

/** Returns a refusal with this failure. */
export function refusedWith<Code extends FailureCode>(failure: Failure<Code>): Failed<Code> {
  return { ok: false, failure };
}

/** Returns a refusal with a code, and with details for the caller if any are given. */
export function failed<Code extends FailureCode>(
  code: Code,
  details: Omit<Failure, 'code'> = {},
): Failed<Code> {
  return refusedWith({ code, ...details });
}

/** Returns the refusal of a call that the policy does not admit, with the policy's code and details. */
export function refusedBy<Code extends PolicyCode>({
  isAdmitted: _,
  code,
  ...details
}: PolicyRefusal<Code>): Failed<Code> {
  return failed(code, details);
}
