import { partsOf } from '../../../runtime/parts.ts';
import type { Store, Write } from '../../../runtime/store.ts';
import type { WebhookProgress, WebhookRetry } from './webhook-record.ts';

/**
 * Endpoints whose progress is read at a time. One with all its dead letters and retries is 60 KB. A tenant's 1,000 at
 * once would take the event loop for two seconds.
 */
export const PROGRESS_AT_A_TIME = 10;

/** The progress as it is stored. A retry's number of attempts has the name that 0.2.0 gave it. */
interface StoredProgress extends Omit<WebhookProgress, 'retries'> {
  readonly retries: readonly (Omit<WebhookRetry, 'attemptCount'> & { readonly tries: number })[];
}

/** Returns the write that stores the progress of an endpoint. */
export function writeOfProgress(key: string, webhookId: string, progress: WebhookProgress): Write {
  const { retries, ...fields } = progress;
  const storedProgress: StoredProgress = {
    ...fields,
    retries: retries.map(({ attemptCount, ...retry }) => ({ ...retry, tries: attemptCount })),
  };
  return ['HSET', key, webhookId, JSON.stringify(storedProgress)];
}

/** Reads a stored progress back. */
export function decodeProgress(text: string): WebhookProgress {
  const { retries, ...fields } = JSON.parse(text) as StoredProgress;
  return { ...fields, retries: retries.map(({ tries, ...retry }) => ({ ...retry, attemptCount: tries })) };
}

/** Reads the progress of endpoints, by webhook id. An endpoint that was sent nothing yet has none. */
export async function readProgress(
  store: Pick<Store, 'read'>,
  key: string,
  webhookIds: readonly string[],
): Promise<Map<string, WebhookProgress>> {
  const progress = new Map<string, WebhookProgress>();
  for (const part of partsOf(webhookIds, PROGRESS_AT_A_TIME)) {
    const [texts] = await store.read([['HMGET', key, ...part]]);
    for (const [index, id] of part.entries()) {
      const text = texts[index];
      if (text != null) progress.set(id, decodeProgress(text));
    }
  }
  return progress;
}

/** Returns a dead letter as the progress of its endpoint keeps it. */
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
