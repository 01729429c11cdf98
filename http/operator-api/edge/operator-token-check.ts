import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { errorReply } from '../../contract/envelope.ts';
import type { ReplyValue, RequestValue } from '../../contract/exchange.ts';
import { allows, type Operator, type OperatorToken, type TokenRole } from '../../contract/operator-role.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { type OperatorRefusalReason, operatorCounters } from '../../metrics/operator-metrics.ts';
import { bearer } from '../../pipeline/presented-key.ts';
import { TokenGuesses } from './token-guesses.ts';

/** Changes that an operator may make at once. A script that sets up a few thousand shops stays below. */
export const CHANGES_AT_ONCE = 5_000;
/** Changes a second that an operator gets back. */
export const CHANGES_A_SECOND = 50;

/**
 * Bounds each operator's changes on this node, so that no operator can push older ones out of the audit log unseen. On
 * one node, an operator needs a quarter of an hour to replace its 50,000 entries.
 */
class ChangeBudget {
  readonly #clock: Clock;
  readonly #operators = new Map<string, { changesLeft: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a change. Returns undefined if it may be made, otherwise the whole seconds until one may be made. */
  take(operator: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const budget = this.#operators.get(operator) ?? { changesLeft: CHANGES_AT_ONCE, atMs: nowMs };
    const back = ((nowMs - budget.atMs) * CHANGES_A_SECOND) / 1_000;
    const budgetLeft = Math.min(CHANGES_AT_ONCE, budget.changesLeft + back);
    this.#operators.set(operator, { changesLeft: budgetLeft < 1 ? budgetLeft : budgetLeft - 1, atMs: nowMs });
    return budgetLeft < 1 ? Math.ceil((1 - budgetLeft) / CHANGES_A_SECOND) : undefined;
  }
}

/** The operator, or the refusal of a caller that is not admitted. */
export type OperatorAdmission =
  | { readonly isAdmitted: true; readonly operator: Operator }
  | { readonly isAdmitted: false; readonly refusal: ReplyValue };

interface AdmissionQuestion {
  readonly role: TokenRole;
  /** True if the call changes something, and so has an entry in the audit log. */
  readonly isChange: boolean;
}

/** Admits callers to the operators' listener by token and role. */
export interface OperatorTokenCheck {
  /** Admits a caller whose token has at least the role. Counts a change against its operator's bound. */
  admit(request: Pick<RequestValue, 'headers' | 'ip'>, question: AdmissionQuestion): OperatorAdmission;
  /** True if a token would be admitted for some role. Counts nothing; only `admit` decides and counts. */
  knows(request: Pick<RequestValue, 'headers' | 'ip'>): boolean;
}

interface OperatorTokenCheckOptions {
  readonly tokens: readonly OperatorToken[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Checks the tokens of the operators' listener. It answers 401 `API_KEY_MISSING` and `API_KEY_INVALID`, and 403
 * `FORBIDDEN_ROLE`. It answers 429 `RATE_LIMITED` to an address that guesses and to an operator with too many changes.
 * `msgapi_operator_refusals_total` counts refusals by reason. The log has a line for each address that starts to guess
 * or is stopped. Each call for which an operator lacks the role has one, too.
 */
export function operatorTokenCheck({
  tokens,
  clock,
  log,
  metrics,
}: OperatorTokenCheckOptions): OperatorTokenCheck {
  const knownTokens = tokens.map(({ name, role, token }) => ({
    operator: { name, role },
    digest: digestOf(token),
  }));
  const guesses = new TokenGuesses(clock);
  const budget = new ChangeBudget(clock);
  const { countRefusal, countChange } = operatorCounters(
    metrics,
    tokens.map(({ name }) => name),
  );

  function refuse(reason: OperatorRefusalReason, ...reply: Parameters<typeof errorReply>): OperatorAdmission {
    countRefusal({ reason });
    return { isAdmitted: false, refusal: errorReply(...reply) };
  }

  /** Compares with every token, so that the time does not reveal which one is nearly right. */
  function ownerOf(token: string): Operator | undefined {
    const presentedDigest = digestOf(token);
    let operatorFound: Operator | undefined;
    for (const { operator, digest } of knownTokens)
      if (timingSafeEqual(presentedDigest, digest)) operatorFound = operator;
    return operatorFound;
  }

  function countedChange(operator: Operator): OperatorAdmission {
    const retryAfterSeconds = budget.take(operator.name);
    if (retryAfterSeconds !== undefined) {
      const message = `${operator.name} made too many changes: at most ${CHANGES_AT_ONCE} at once and ${CHANGES_A_SECOND} a second.`;
      return refuse('changes', { code: 'RATE_LIMITED', message, retryAfterSeconds });
    }
    countChange({ operator: operator.name });
    return { isAdmitted: true, operator };
  }

  return {
    knows({ headers, ip }) {
      const token = bearer(headers.authorization);
      // An address that guesses must not learn here if a token is valid.
      return token !== undefined && guesses.waitSeconds(ip) === undefined && ownerOf(token) !== undefined;
    },
    admit({ headers, ip }, question) {
      const retryAfterSeconds = guesses.waitSeconds(ip);
      if (retryAfterSeconds !== undefined) {
        const message = 'This address sent too many different tokens that are not valid.';
        return refuse('limited', { code: 'RATE_LIMITED', message, retryAfterSeconds });
      }
      const token = bearer(headers.authorization);
      if (token === undefined) {
        const message = 'An operator token is required: send Authorization: Bearer <ADMIN_TOKEN>.';
        return refuse('missing', { code: 'API_KEY_MISSING', message });
      }
      const operator = ownerOf(token);
      if (operator === undefined) {
        const mark = guesses.count(ip, token);
        if (mark === 'first') log.warn({ ip }, 'a wrong operator token was sent');
        if (mark === 'last') log.error({ ip }, 'operator tokens are being guessed: the address is refused');
        return refuse('invalid', {
          code: 'API_KEY_INVALID',
          message: 'This operator token is not valid.',
        });
      }
      if (allows(operator.role, question.role))
        return question.isChange ? countedChange(operator) : { isAdmitted: true, operator };
      log.warn(
        { ip, operator: operator.name, role: operator.role, needs: question.role },
        'an operator lacks the role for a call',
      );
      const message = `This asks for the role ${question.role}; the token of ${operator.name} has the role ${operator.role}.`;
      return refuse('role', { code: 'FORBIDDEN_ROLE', message });
    },
  };
}

/** Returns a digest of a token. All have one length, which a comparison in constant time needs. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
