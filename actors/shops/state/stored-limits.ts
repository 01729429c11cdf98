import {
  type NetworkLimits,
  NO_LIMITS,
  REFUSED,
  type Restriction,
  UNNAMED_END_MS,
} from '../../../policy/network-limits.ts';

/** Returns the stored form of the network's limits for a number. */
export function encodeLimits(limits: NetworkLimits): string {
  return limits.restriction === null && limits.newChats === null ? '' : JSON.stringify(limits);
}

/**
 * Reads the limits back. `actor` is the stored form of both machines, in which earlier programs stored the end of the
 * bar after a refusal.
 */
export function decodeLimits(
  stored: string | null | undefined,
  actor: string | null | undefined,
): NetworkLimits {
  if (stored != null) return stored === '' ? NO_LIMITS : (JSON.parse(stored) as NetworkLimits);
  if (!actor?.includes('"coldPausedUntilMs"')) return NO_LIMITS;
  const { pacing } = JSON.parse(actor) as { pacing: { context: { coldPausedUntilMs?: number | null } } };
  return limitsOfBar(pacing.context.coldPausedUntilMs);
}

/** Returns the limits that an earlier program stored as the end of a bar. */
export function limitsOfBar(untilMs: number | null | undefined): NetworkLimits {
  return untilMs == null ? NO_LIMITS : { restriction: refusedUntil(untilMs), newChats: null };
}

/** The restriction that follows from a refusal alone. */
export function refusedUntil(untilMs: number): Restriction {
  return { kind: REFUSED, untilMs, isEndKnown: false };
}

/** Returns the limits without impossibly long waits, which a node with a clock ahead may have stored. */
export function presentLimits(limits: NetworkLimits, nowMs: number): NetworkLimits {
  const { restriction, newChats } = limits;
  const isTooLong = restriction?.isEndKnown === false && restriction.untilMs > nowMs + UNNAMED_END_MS;
  const isAhead = newChats !== null && newChats.atMs > nowMs;
  if (!isTooLong && !isAhead) return limits;
  return {
    restriction: isTooLong ? { ...restriction, untilMs: nowMs + UNNAMED_END_MS } : restriction,
    newChats: isAhead ? { ...newChats, atMs: nowMs } : newChats,
  };
}
