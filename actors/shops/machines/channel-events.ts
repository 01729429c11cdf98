import type { SessionEnd } from '../../sessions/session-events.ts';
import type { SessionOpening } from '../../sessions/session-host.ts';

/** The events of the channel machine. `chance` is uniform in [0, 1), for jitter. */
export type ChannelEvent =
  | {
      readonly type: 'connect';
      readonly nowMs: number;
      readonly configId: string;
      /** Like the field of the context. If absent, the pairing uses a QR code. */
      readonly pairWith?: string | undefined;
    }
  | { readonly type: 'disconnect'; readonly nowMs: number }
  | { readonly type: 'qr' }
  | { readonly type: 'code' }
  | {
      readonly type: 'connected';
      readonly phone: string;
      readonly pairedAtMs: number;
      /** Since when the number's warm-up counts, if that is before this pairing. */
      readonly warmupSinceMs?: number;
    }
  /** The number is connected at another shop of the tenant, which `detail` names. */
  | { readonly type: 'refused'; readonly nowMs: number; readonly detail: string }
  | {
      readonly type: 'closed';
      readonly end: SessionEnd;
      readonly statusCode: number | undefined;
      readonly detail: string;
      readonly networkCode?: number;
      readonly waitMs?: number;
      readonly nowMs: number;
      readonly chance: number;
    }
  | { readonly type: 'reconnect_due' }
  | { readonly type: 'activated'; readonly nowMs: number }
  | { readonly type: 'egress_changed'; readonly nowMs: number };

export type ChannelEffect =
  | { readonly type: 'open_session'; readonly params: SessionOpening }
  | { readonly type: 'close_session'; readonly params: undefined }
  | { readonly type: 'erase_session'; readonly params: undefined }
  | { readonly type: 'lose_session'; readonly params: undefined };
