import { HOUR_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import type { SessionEnd } from '../../sessions/session-events.ts';
import type { ChannelContext } from './channel-context.ts';

/**
 * Longest wait of the backoff, in milliseconds. If no configured key opens the credentials, each wait is this long:
 * only a deployment brings the key again.
 */
const RECONNECT_CEILING_MS = 5 * MINUTE_MS;
const RECONNECT_FLOOR_MS = 1_000;

/**
 * The first step after a refused client version, in milliseconds. Half of it is the shortest wait. By then each node
 * has read the version from the network's page (`network-version.ts`).
 */
const OUTDATED_FLOOR_MS = 90_000;

/**
 * The waits after logins that the network refused, in milliseconds. Some refusals last as long as an outage
 * (mautrix/meta, pull request 284). Others are permanent, so the attempts must end.
 */
const LOGIN_REFUSED_WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS];

/** Returns the longest wait for the next attempt after that end, in milliseconds. */
export function longestReconnectMs(end: NonNullable<ChannelContext['lastEnd']>['end'] | undefined): number {
  return end === 'login_refused' ? Math.max(...LOGIN_REFUSED_WAITS_MS) : RECONNECT_CEILING_MS;
}

/** The number of refused logins after which the attempts end. */
export const LOGIN_REFUSED_TRIES = LOGIN_REFUSED_WAITS_MS.length + 1;

/** How long a session waits after another program took it over, before it reconnects, in milliseconds. */
const REPLACED_WAIT_MS = 30_000;

/**
 * Returns the wait before the next attempt, in milliseconds: exponential backoff with full jitter above half of each
 * step (docs/chat-client.md, Disconnects). Some ends have fixed waits. `attempts` since the session was last open,
 * `chance` uniform in [0, 1).
 */
export function reconnectDelayMs(options: {
  readonly attempts: number;
  /** Logins refused before this one. */
  readonly loginRefusals: number;
  readonly end: SessionEnd;
  readonly chance: number;
}): number {
  if (options.end === 'credentials_unreadable') return RECONNECT_CEILING_MS;
  if (options.end === 'replaced') return REPLACED_WAIT_MS;
  if (options.end === 'login_refused')
    return LOGIN_REFUSED_WAITS_MS[options.loginRefusals] ?? RECONNECT_CEILING_MS;
  const floorMs = options.end === 'outdated' ? OUTDATED_FLOOR_MS : RECONNECT_FLOOR_MS;
  const stepMs = Math.min(RECONNECT_CEILING_MS, floorMs * 2 ** Math.min(options.attempts, 20));
  return Math.round(stepMs / 2 + (stepMs / 2) * options.chance);
}
