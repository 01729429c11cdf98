/** The states of a message (docs/contract.md, Message states). */
export const MESSAGE_STATUSES = ['queued', 'sending', 'sent', 'failed', 'rejected'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** States that no message leaves. */
export type FinalStatus = Extract<MessageStatus, 'sent' | 'failed' | 'rejected'>;

/**
 * The reasons for which a message ends without being `sent`, each with its final state. After `BOT_RESTARTED` and
 * `DELIVERY_UNKNOWN` it may have left nevertheless. Metrics start a series for each, the console explains each, and
 * tests compare the articles with the list.
 */
export const MESSAGE_REASONS = {
  BOT_RESTARTED: 'failed',
  BOT_SERVICE_UNREACHABLE: 'failed',
  CANCELLED: 'failed',
  DELIVERY_UNKNOWN: 'failed',
  EXPIRED: 'failed',
  MEDIA_UNAVAILABLE: 'failed',
  MSGAPP_NOT_CONNECTED: 'failed',
  MSGAPP_SESSION_LOST: 'failed',
  SEND_REFUSED: 'failed',
  STATUS_NO_AUDIENCE: 'failed',
  COLD_RECIPIENT_CAP_REACHED: 'rejected',
  DECLARED_RECIPIENT_CAP_REACHED: 'rejected',
  GROUP_NOT_ADMINISTERED: 'rejected',
  RECIPIENT_NOT_ON_MSGAPP: 'rejected',
  RECIPIENT_OPTED_OUT: 'rejected',
  RECIPIENT_RATE_LIMITED: 'rejected',
} as const satisfies { readonly [reason: string]: Exclude<FinalStatus, 'sent'> };
export type MessageReason = keyof typeof MESSAGE_REASONS;

const FINAL: { readonly [Status in MessageStatus]: boolean } = {
  queued: false,
  sending: false,
  sent: true,
  failed: true,
  rejected: true,
};

/** Returns the final state of a message with this reason, or without one: it was sent. */
export function finalStatus(reason: MessageReason | null): FinalStatus {
  return reason === null ? 'sent' : MESSAGE_REASONS[reason];
}

/** True if a message in this state never changes again. */
export function isFinal(status: MessageStatus): status is FinalStatus {
  return FINAL[status];
}
