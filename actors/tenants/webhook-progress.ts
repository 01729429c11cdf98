import type { StoredEvent } from './tenant-event.ts';
import type { WebhookProgress } from './webhook-record.ts';

/** A dead letter as the progress of its endpoint keeps it. */
export function webhookDeadLetter({ streamId, shopId }: Pick<StoredEvent, 'streamId' | 'shopId'>): string {
  return `${streamId} ${shopId}`;
}

/** The place of its event. */
export function placeOf(dead: string): string {
  return dead.split(' ', 1)[0] ?? '';
}

/** Its event's shop; undefined: an earlier program wrote the place alone. */
function shopOf(dead: string): string | undefined {
  return dead.split(' ', 2)[1];
}

/**
 * The progress without what is of other shops. A retry of which the shop is not known stays: it goes when it falls due, if its
 * event was erased.
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
