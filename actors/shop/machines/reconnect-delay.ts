import type { SessionEnd } from '../../session/session-host.ts';

/**
 * Longest wait between two attempts to reconnect, in milliseconds. A refused client version waits this long at
 * once, and so do credentials that no configured key opens: the next deployment has the key again.
 */
export const RECONNECT_CEILING_MS = 5 * 60_000;
const RECONNECT_FLOOR_MS = 1_000;

/**
 * How long to wait before the next attempt, in milliseconds: exponential backoff with full jitter above half of each step
 * (docs/chat-client.md, Disconnects). `attempts` since the session was last open, `chance` uniform in [0, 1).
 */
export function reconnectDelayMs(options: {
  readonly attempts: number;
  readonly end: SessionEnd;
  readonly chance: number;
}): number {
  if (options.end === 'outdated' || options.end === 'credentials_unreadable') return RECONNECT_CEILING_MS;
  const stepMs = Math.min(RECONNECT_CEILING_MS, RECONNECT_FLOOR_MS * 2 ** Math.min(options.attempts, 20));
  return Math.round(stepMs / 2 + (stepMs / 2) * options.chance);
}
