import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { Failure } from '../../failure.ts';
import type { ChannelContext } from '../machines/channel-context.ts';

/**
 * How long no code is requested after the network refused one because of too many requests, in milliseconds. It equals
 * the pause after a rate signal (`PACING_TIMES`). Both the shop and the node (`PairingLimits`) wait this long.
 */
export const CODE_PAUSE_MS = 15 * MINUTE_MS;

/** The caller's message for that pause. It names the network, because this service has limits of its own. */
export const NETWORK_REFUSED = 'The chat network said that it was asked for too many codes.';

/**
 * Returns the reason why there is no code to type: too many requests, or the network refused the last session.
 * Undefined if neither happened lately.
 */
export function codeRefusal(
  { lastEnd, codesRefusedAtMs }: ChannelContext,
  nowMs: number,
): Failure<'PAIRING_RATE_LIMITED' | 'PAIRING_CODE_REFUSED'> | undefined {
  const refusedEnd = lastEnd?.end === 'pairing_refused' ? lastEnd : undefined;
  const limitedMs = codesRefusedAtMs == null ? 0 : codesRefusedAtMs + CODE_PAUSE_MS - nowMs;
  if (limitedMs > 0) {
    const retryAfterSeconds = Math.ceil(limitedMs / 1_000);
    return { code: 'PAIRING_RATE_LIMITED', message: NETWORK_REFUSED, retryAfterSeconds };
  }
  if (refusedEnd === undefined || refusedEnd.atMs + CODE_PAUSE_MS <= nowMs) return undefined;
  const fields = [{ field: 'phone', message: 'must be a number that the chat network gives a code for' }];
  return { code: 'PAIRING_CODE_REFUSED', fields };
}
