import type { WebhookProgress } from './webhook-record.ts';

/**
 * Endpoints whose progress is read at a time. One with all its dead letters and retries is 60 KB. A tenant's 1,000 at
 * once would take the event loop for two seconds.
 */
export const PROGRESS_AT_A_TIME = 10;

/** A dead letter as the progress of its endpoint keeps it. */
export function undeliveredEvent({
  streamId,
  shopId,
}: {
  readonly streamId: string;
  readonly shopId: string;
}): string {
  return `${streamId} ${shopId}`;
}

/** Returns the position of its event. */
export function placeOf(letter: string): string {
  return letter.split(' ', 1)[0] ?? '';
}

/** Returns the progress with the entries of these shops only. */
export function ofShops(progress: WebhookProgress, shops: { has(shopId: string): boolean }): WebhookProgress {
  return {
    ...progress,
    retries: progress.retries.filter(({ shopId }) => shops.has(shopId)),
    dead: progress.dead.filter((letter) => shops.has(letter.split(' ', 2)[1] ?? '')),
  };
}
