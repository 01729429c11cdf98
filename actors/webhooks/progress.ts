import type { Random } from '../../runtime/random.ts';
import { cursorOf } from '../tenants/stored-events/event-cursor.ts';
import type { StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import { placeOf, undeliveredEvent } from '../tenants/stored-webhooks/webhook-progress.ts';
import type {
  WebhookAttempt,
  WebhookProgress,
  WebhookRecord,
  WebhookRetry,
} from '../tenants/stored-webhooks/webhook-record.ts';
import { delayAfter } from './delay-after.ts';
import type { DeliveryResult } from './deliver.ts';
import type { EndedAttempt } from './endpoint-attempts.ts';

/** Dead letters that are remembered. */
const MOST_UNDELIVERED = 1_000;

/** An event that is to be sent again. */
export type ReplayedEvent = Pick<StoredEvent, 'streamId' | 'shopId'>;

/** A change of the progress, and the attempts that led to it. */
export interface ProgressChange {
  readonly progress: WebhookProgress;
  readonly attempts: readonly WebhookAttempt[];
}

/** Returns the progress of an endpoint that was sent nothing yet. */
export function firstProgress({
  since,
  enabledAtMs,
}: Pick<WebhookRecord, 'since' | 'enabledAtMs'>): WebhookProgress {
  const noFailure = { failingSinceMs: null, heldUntilMs: null };
  return { cursor: since, retries: [], dead: [], ...noFailure, countedForMs: enabledAtMs };
}

/**
 * Returns the progress that applies to the endpoint: without the failures and the hold from before it was enabled or
 * moved.
 */
export function forgiveFailures(
  progress: WebhookProgress,
  { enabledAtMs }: Pick<WebhookRecord, 'enabledAtMs'>,
): WebhookProgress {
  if (progress.countedForMs === enabledAtMs) return progress;
  return { ...progress, failingSinceMs: null, heldUntilMs: null, countedForMs: enabledAtMs };
}

/** Returns the progress with these events due at `dueAtMs`, from the first attempt on. */
export function withReplayed(
  progress: WebhookProgress,
  events: readonly ReplayedEvent[],
  dueAtMs: number,
): WebhookProgress {
  const replayedRetries = events.map(({ streamId, shopId }): WebhookRetry => {
    return { place: streamId, shopId, attemptCount: 0, dueAtMs };
  });
  const places = new Set(events.map(({ streamId }) => streamId));
  const otherRetries = progress.retries.filter(({ place }) => !places.has(place));
  const otherLetters = progress.dead.filter((letter) => !places.has(placeOf(letter)));
  return { ...progress, retries: [...otherRetries, ...replayedRetries], dead: otherLetters };
}

/**
 * Returns the progress after these attempts, and the record of each. The delay after an attempt counts from its own
 * end. A replay that came during the attempt keeps its entry.
 */
export function tallyAttempts(
  before: WebhookProgress,
  endedAttempts: readonly EndedAttempt[],
  random: Random,
): ProgressChange {
  let progress = before;
  const attempts: WebhookAttempt[] = [];
  for (const endedAttempt of endedAttempts) {
    const { event, retry, atMs, durationMs, result, address } = endedAttempt;
    progress = { ...progress, retries: progress.retries.filter((otherRetry) => otherRetry !== retry) };
    if (result === undefined) continue;
    const { streamId: place, shopId } = event;
    const number = retry.attemptCount + 1;
    const isCounted = result.error !== null && !address.isFormer;
    const delayMs = isCounted ? delayAfter(number, random) : undefined;
    const isDead = isCounted && delayMs === undefined;
    const { status, error } = result;
    attempts.push({
      eventId: cursorOf(place),
      type: event.type,
      shopId,
      atMs,
      durationMs,
      number,
      status,
      error,
      isDead,
    });
    const endedAtMs = atMs + durationMs;
    progress = address.isFormer
      ? afterFormer(progress, endedAttempt, endedAtMs)
      : after(progress, { result, event, number, endedAtMs, delayMs });
  }
  return { progress, attempts };
}

/**
 * Returns the progress after an attempt at a former address, which does not count for the present one. An event that
 * was not accepted goes to the present address at once, without a counted attempt.
 */
function afterFormer(
  progress: WebhookProgress,
  { event, retry, result }: EndedAttempt,
  dueAtMs: number,
): WebhookProgress {
  const { streamId: place, shopId } = event;
  const isTaken = result?.error === null;
  if (isTaken || progress.retries.some((otherRetry) => otherRetry.place === place)) return progress;
  return {
    ...progress,
    retries: [...progress.retries, { place, shopId, attemptCount: retry.attemptCount, dueAtMs }],
  };
}

/** Returns the progress after one more attempt. If `delayMs` is undefined, it was the last of its event. */
function after(
  progress: WebhookProgress,
  attempt: {
    readonly result: DeliveryResult;
    readonly event: StoredEvent;
    readonly number: number;
    readonly endedAtMs: number;
    readonly delayMs: number | undefined;
  },
): WebhookProgress {
  const { result, event, number, endedAtMs, delayMs } = attempt;
  const { streamId: place, shopId } = event;
  if (result.error === null) return { ...progress, failingSinceMs: null };
  const failingSinceMs = progress.failingSinceMs ?? endedAtMs;
  const { holdMs } = result;
  const holdFields = holdMs === null ? {} : { heldUntilMs: endedAtMs + holdMs };
  const failedProgress = { ...progress, failingSinceMs, ...holdFields };
  // A replay was requested while this attempt ran; the replay counts.
  if (progress.retries.some((retry) => retry.place === place)) return failedProgress;
  if (delayMs === undefined)
    return { ...failedProgress, dead: [...progress.dead, undeliveredEvent(event)].slice(-MOST_UNDELIVERED) };
  return {
    ...failedProgress,
    retries: [...progress.retries, { place, shopId, attemptCount: number, dueAtMs: endedAtMs + delayMs }],
  };
}
