/** Every code a policy refusal can carry (docs/contract.md, Errors). */
export type PolicyCode =
  | 'MESSAGE_TOO_LONG'
  | 'TOO_MANY_MEDIA'
  | 'EMPTY_MESSAGE'
  | 'RECIPIENT_OPTED_OUT'
  | 'BULK_PATTERN_BLOCKED'
  | 'RECIPIENT_RATE_LIMITED'
  | 'DAILY_CAP_REACHED'
  | 'HOURLY_CAP_REACHED'
  | 'COLD_RECIPIENT_CAP_REACHED'
  | 'DECLARED_RECIPIENT_CAP_REACHED'
  | 'GROUP_CONTEXT_REQUIRED'
  | 'GROUP_NOT_ADMINISTERED'
  | 'GROUP_DAILY_CAP_REACHED'
  | 'STATUSES_DAILY_CAP_REACHED'
  | 'DECLARE_BATCH_TOO_LARGE'
  | 'DECLARE_DAILY_CAP_REACHED';

/** The policy's no: the first rule that refused. Nothing is counted for it. */
export interface PolicyRefusal {
  readonly admitted: false;
  readonly code: PolicyCode;
  /** For the caller to read; names limits, never contents. */
  readonly message: string;
  /**
   * Whole seconds after which this rule, all else unchanged, lets the same send through, while one second earlier
   * it still refuses. Absent when waiting alone never helps.
   */
  readonly retryAfterSeconds?: number;
}

/** A refusal that waiting does not lift. */
export function refuse(code: PolicyCode, message: string): PolicyRefusal {
  return { admitted: false, code, message };
}

/**
 * A refusal that the rule itself lifts at `reliefMs`, the first moment it would pass; `Infinity`: never, as the
 * message then says.
 */
export function refuseUntil(refusal: {
  readonly code: PolicyCode;
  readonly message: string;
  readonly reliefMs: number;
  readonly nowMs: number;
}): PolicyRefusal {
  const { code, message, reliefMs, nowMs } = refusal;
  if (reliefMs === Number.POSITIVE_INFINITY) {
    return refuse(code, `${message} Waiting does not lift this.`);
  }
  return { admitted: false, code, message, retryAfterSeconds: Math.ceil((reliefMs - nowMs) / 1000) };
}
