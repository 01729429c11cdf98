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

/** Reads the limits back. An absent or empty text means that there are none. */
export function decodeLimits(text: string | null | undefined): NetworkLimits {
  return text ? (JSON.parse(text) as NetworkLimits) : NO_LIMITS;
}

/** Returns the restriction that follows from a refusal alone. */
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
