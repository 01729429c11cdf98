/** Codes that may refuse a content that is within the bounds of a request (`refuseFittingContent`). */
export const CONTENT_POLICY_CODES = ['EMPTY_MESSAGE'] as const;

/** Codes that may refuse a message, in the order of the checks (docs/contract.md, Order of policy checks). */
export const MESSAGE_POLICY_CODES = [
  'MESSAGE_TOO_LONG',
  // No rule gives it, because a message has one `mediaUrl`. The document of 0.2.0 names it.
  'TOO_MANY_MEDIA',
  ...CONTENT_POLICY_CODES,
  'GROUP_CONTEXT_REQUIRED',
  'GROUP_NOT_ADMINISTERED',
  'RECIPIENT_OPTED_OUT',
  'BULK_PATTERN_BLOCKED',
  'RECIPIENT_RATE_LIMITED',
  'DAILY_CAP_REACHED',
  'HOURLY_CAP_REACHED',
  'COLD_RECIPIENT_CAP_REACHED',
  'DECLARED_RECIPIENT_CAP_REACHED',
  'GROUP_DAILY_CAP_REACHED',
] as const;

/** Codes that may refuse a status post. */
export const STATUS_POLICY_CODES = ['EMPTY_MESSAGE', 'STATUSES_DAILY_CAP_REACHED'] as const;

/** Codes that may refuse a declaration of contacts. */
export const DECLARATION_POLICY_CODES = ['DECLARE_BATCH_TOO_LARGE', 'DECLARE_DAILY_CAP_REACHED'] as const;

/**
 * Every code that a policy refusal can carry. Add a new one to the lists of the routes that may give it. A code about
 * the content alone is in `CONTENT_POLICY_CODES`. The types follow.
 */
export type PolicyCode = MessagePolicyCode | StatusPolicyCode | DeclarationPolicyCode;

/** A code that may refuse a content that is within the bounds of a request. */
export type ContentPolicyCode = (typeof CONTENT_POLICY_CODES)[number];

/** A code that may refuse a message. */
export type MessagePolicyCode = (typeof MESSAGE_POLICY_CODES)[number];

/** A code that may refuse a status post. */
export type StatusPolicyCode = (typeof STATUS_POLICY_CODES)[number];

/** A code that may refuse a declaration of contacts. */
export type DeclarationPolicyCode = (typeof DECLARATION_POLICY_CODES)[number];

/** A refusal by the first rule that refuses. Nothing is counted for it. */
export interface PolicyRefusal<Code extends PolicyCode = PolicyCode> {
  readonly isAdmitted: false;
  readonly code: Code;
  /** Text for the caller. Names limits, never contents. */
  readonly message: string;
  /**
   * Whole seconds after which this rule lets the same send through if nothing else changes. One second earlier it still
   * refuses. Absent if waiting alone never helps.
   */
  readonly retryAfterSeconds?: number;
}

/** Returns a refusal that waiting does not lift. */
export function refuse<Code extends PolicyCode>(code: Code, message: string): PolicyRefusal<Code> {
  return { isAdmitted: false, code, message };
}

/**
 * Makes a refusal that the rule itself lifts at `reliefMs`, the first moment it would pass. With `Infinity` the
 * message says that waiting does not help.
 */
export function refuseUntil<Code extends PolicyCode>(refusal: {
  readonly code: Code;
  readonly message: string;
  readonly reliefMs: number;
  readonly nowMs: number;
}): PolicyRefusal<Code> {
  const { code, message, reliefMs, nowMs } = refusal;
  if (reliefMs === Number.POSITIVE_INFINITY) return refuse(code, `${message} Waiting does not lift this.`);
  return { isAdmitted: false, code, message, retryAfterSeconds: Math.ceil((reliefMs - nowMs) / 1_000) };
}
