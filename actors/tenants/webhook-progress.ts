import type { StoredEvent } from './tenant-event.ts';
import type { WebhookProgress } from './webhook-record.ts';

/**
 * Endpoints whose progress is read at a time. One with all its dead letters and retries is 60 KB: a tenant's 1,000 at once
 * would take the event loop for two seconds.
 */
export const PROGRESS_AT_A_TIME = 10;

/** A dead letter as the progress of its endpoint keeps it. */
export function webhookDeadLetter({ streamId, shopId }: Pick<StoredEvent, 'streamId' | 'shopId'>): string {
  return `${streamId} ${shopId}`;
}

/** Returns the position of its event. */
export function placeOf(dead: string): string {
  return dead.split(' ', 1)[0] ?? '';
}

/** Returns its event's shop. Undefined if an earlier program wrote only the position. */
function shopOf(dead: string): string | undefined {
  return dead.split(' ', 2)[1];
}

/**
 * Returns the progress without entries of other shops. A retry without a known shop stays. When it is due, it is
 * removed if its event was erased.
 */
export function ofShops(
  progress: WebhookProgress,
  isOurs: (shopId: string | undefined) => boolean,
): WebhookProgress {
  return {
    ...progress,
    retries: progress.retries.filter(({ shopId }) => shopId === undefined || isOurs(shopId)),
    dead: progress.dead.filter((dead) => isOurs(shopOf(dead))),
  };
}
