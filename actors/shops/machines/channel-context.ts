/** A channel's states, the context of its machine, and the values derived from both. */
import type { ChannelStatus } from '../../channel-status.ts';
import type { SessionEnd } from '../../sessions/session-events.ts';

export type ChannelStateName =
  | 'unconfigured'
  | 'starting'
  | 'qr_waiting'
  | 'code_waiting'
  | 'connected'
  | 'reconnecting'
  | 'banned'
  | 'disconnected';

/** The context of the channel machine; all of it is stored. Times in milliseconds since the Unix epoch. */
export interface ChannelContext {
  /** Identifier of the channel configuration; null before the first connect. */
  readonly configId: string | null;
  /** Number of the newest session; most events of older ones are void (`session-turn.ts`). */
  readonly generation: number;
  /** Digits only; null without credentials. Tenants see it only while connected. */
  readonly phone: string | null;
  /** When the current credentials were paired; null without credentials. */
  readonly pairedAtMs: number | null;
  /** The start of the warm-up of the lost credentials' number. Absent if none were lost yet. */
  readonly lastPairedAtMs?: number;
  /** Their number, digits only. Absent if none were lost yet, or 0.1.0 lost them. */
  readonly lastPhone?: string;
  /** The start of the number's warm-up if it is before `pairedAtMs`. Null or absent if it is not. */
  readonly warmupSinceMs?: number | null;
  /** Set by a terminal loss, cleared by the next connection. */
  readonly flagged: boolean;
  /**
   * True if a caller asked to connect, in this or an earlier process, and the channel has neither connected nor ended
   * permanently since. Absent if no caller did.
   */
  readonly asked?: boolean;
  /** Digits of the number to pair by a code; null or absent: a QR code is to be scanned. */
  readonly pairWith?: string | null;
  /** Attempts since the session was last open, the egress changed, or a caller connected the disconnected channel. */
  readonly attempts: number;
  readonly reconnectAtMs: number | null;
  /** The time since which there is no open session, or null while connected and before the first connect. */
  readonly downSinceMs: number | null;
  readonly lastEnd: {
    /** `number_in_use`: another shop of the tenant has the number connected, so this one may not. */
    readonly end: SessionEnd | 'number_in_use';
    readonly statusCode: number | null;
    readonly detail: string;
    readonly atMs: number;
    /** The network's own code within the status. Absent if it gave none. */
    readonly networkCode?: number;
  } | null;
  /**
   * The temporary ban of the number, and how long it was from its beginning; null or absent: none since it was
   * connected.
   */
  readonly ban?: { readonly untilMs: number; readonly forMs: number } | null;
  /**
   * Logins that the network refused since the session was last open, or a caller connected the disconnected channel.
   */
  readonly loginRefusals?: number;
  /** The time at which another program last took the session over, and this one tried again. Absent if none did. */
  readonly replacedAtMs?: number;
  /**
   * The time at which the network last refused a pairing code because of too many requests. Null or absent if it never
   * did.
   */
  readonly codesRefusedAtMs?: number | null;
}

/** The context of a channel that no caller ever asked to connect. */
export const unconfiguredContext: ChannelContext = {
  configId: null,
  generation: 0,
  phone: null,
  pairedAtMs: null,
  flagged: false,
  attempts: 0,
  reconnectAtMs: null,
  downSinceMs: null,
  lastEnd: null,
};

/**
 * Returns the start of the warm-up, in milliseconds since the Unix epoch. It is the pairing of the current credentials,
 * or an earlier pairing of the same number. Without credentials the last ones count. It is null before the first. So a
 * lost session keeps its caps, and the reason of a refusal is the loss, not the caps of day 0.
 */
export function warmupPairedAtMs(context: ChannelContext): number | null {
  return context.warmupSinceMs ?? context.pairedAtMs ?? context.lastPairedAtMs ?? null;
}

/** Returns the number of the shop's session, or of the last one. Null if no number is known. */
export function ownNumber({ phone, lastPhone }: ChannelContext): string | null {
  return phone ?? lastPhone ?? null;
}

/**
 * True if the shop has this number connected (docs/contract.md, A number and its shops), including while its session
 * reconnects by itself. A shop that was disconnected and connects again must take the number again.
 */
export function holdsNumber(
  { value, context }: { readonly value: unknown; readonly context: ChannelContext },
  phone: string,
): boolean {
  const { pairedAtMs, asked } = context;
  if (context.phone !== phone || pairedAtMs === null) return false;
  const isComingBack = value === 'starting' || value === 'reconnecting' || value === 'banned';
  return value === 'connected' || (isComingBack && asked !== true);
}

/** True if the shop was ever connected, in any present state of its channel. */
export function wasConnected({ pairedAtMs, lastPairedAtMs, flagged }: ChannelContext): boolean {
  return pairedAtMs !== null || lastPairedAtMs !== undefined || flagged;
}

/**
 * Returns the contract's channel state (docs/contract.md, Channel connection state). Waiting to reconnect is
 * `starting`. Waiting for a code to be typed is `starting` too, since `qr_waiting` promises a QR code. A channel that
 * is banned, or that no caller asked to connect, is `disconnected`.
 */
export function publicChannelStatus(state: ChannelStateName): ChannelStatus {
  if (state === 'reconnecting' || state === 'code_waiting') return 'starting';
  if (state === 'unconfigured' || state === 'banned') return 'disconnected';
  return state;
}
