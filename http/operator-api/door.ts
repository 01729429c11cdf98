import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { errorReply } from '../contract/envelope.ts';
import type { ReplyValue, RequestValue } from '../contract/exchange.ts';
import { allows, type Operator, type OperatorToken, type TokenRole } from '../contract/operator-role.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { bearer } from '../pipeline/presented-key.ts';
import { TokenGuesses } from './token-guesses.ts';

/** The operator, or the refusal of a caller that is none. */
export type Admitted =
  | { readonly operator: Operator }
  | { readonly operator: undefined; readonly refusal: ReplyValue };

/** Admits callers to the operators' listener by token and role. */
export interface OperatorDoor {
  /** Admits a caller whose token has at least the role. */
  admit(request: Pick<RequestValue, 'headers' | 'ip'>, role: TokenRole): Admitted;
  /** Whether a token would get past the door for some role. Counts nothing; `admit` is what decides and counts. */
  knows(request: Pick<RequestValue, 'headers' | 'ip'>): boolean;
}

interface OperatorDoorOptions {
  readonly tokens: readonly OperatorToken[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Why a request is refused: no token, a wrong one, one too many of these from its address, or too small a role. */
const REASONS = ['missing', 'invalid', 'limited', 'role'] as const;

/**
 * The door of the operators' listener: 401 `API_KEY_MISSING` and `API_KEY_INVALID`, 429 `RATE_LIMITED` for an address
 * that guesses, 403 `FORBIDDEN_ROLE`. Refusals are counted by reason in `msgapi_operator_refusals_total`; an address that
 * begins to guess, and one that is stopped, gets a line in the log, and so does an operator who lacks a role.
 */
export function createOperatorDoor({ tokens, clock, log, metrics }: OperatorDoorOptions): OperatorDoor {
  const known = tokens.map(({ name, role, token }) => ({
    operator: { name, role },
    digest: digestOf(token),
  }));
  const guesses = new TokenGuesses(clock);
  const counts = new Map(REASONS.map((reason) => [reason, 0]));
  metrics.source({
    name: 'msgapi_operator_refusals_total',
    help: "Requests of the operators' listener refused at the door, by reason.",
    kind: 'counter',
    read: () => [...counts].map(([reason, value]) => ({ labels: { reason }, value })),
  });

  function refused(reason: (typeof REASONS)[number], ...reply: Parameters<typeof errorReply>): Admitted {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return { operator: undefined, refusal: errorReply(...reply) };
  }

  /** Compares with every token, so that the time taken tells nothing of which one is nearly right. */
  function ownerOf(token: string): Operator | undefined {
    const presented = digestOf(token);
    let found: Operator | undefined;
    for (const { operator, digest } of known) if (timingSafeEqual(presented, digest)) found = operator;
    return found;
  }

  return {
    knows({ headers, ip }) {
      const token = bearer(headers.authorization);
      // An address that guesses learns nothing of a token here either.
      return token !== undefined && guesses.waitSeconds(ip) === undefined && ownerOf(token) !== undefined;
    },
    admit({ headers, ip }, role) {
      const retryAfterSeconds = guesses.waitSeconds(ip);
      if (retryAfterSeconds !== undefined) {
        const message = 'Too many different tokens that are not valid came from this address.';
        return refused('limited', { code: 'RATE_LIMITED', message, retryAfterSeconds });
      }
      const token = bearer(headers.authorization);
      if (token === undefined) {
        const message = 'An operator token is required: send Authorization: Bearer <ADMIN_TOKEN>.';
        return refused('missing', { code: 'API_KEY_MISSING', message });
      }
      const operator = ownerOf(token);
      if (operator === undefined) {
        const mark = guesses.count(ip, token);
        if (mark === 'first') log.warn({ ip }, 'a wrong operator token was sent');
        if (mark === 'last') log.error({ ip }, 'operator tokens are being guessed: the address is refused');
        return refused('invalid', {
          code: 'API_KEY_INVALID',
          message: 'This operator token is not valid.',
        });
      }
      if (allows(operator.role, role)) return { operator };
      log.warn(
        { ip, operator: operator.name, role: operator.role, needs: role },
        'an operator lacks the role for a call',
      );
      const message = `This asks for the role ${role}; the token of ${operator.name} has the role ${operator.role}.`;
      return refused('role', { code: 'FORBIDDEN_ROLE', message });
    },
  };
}

/** A digest of a token. All have one length, as a comparison in constant time needs it. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
