import type { Random } from '../../runtime/random.ts';
import { cursorOf } from '../tenant/event-cursor.ts';
import type { StoredEvent } from '../tenant/tenant-event.ts';
import type {
  WebhookAttempt,
  WebhookProgress,
  WebhookRecord,
  WebhookRetry,
} from '../tenant/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import { delayAfter } from './schedule.ts';

/** Dead letters whose places are remembered. */
const MOST_DEAD = 1_000;

/** One try of an event, and what came of it. */
export interface Tried {
  readonly event: StoredEvent;
  /** How often it was tried before. */
  readonly tries: number;
  readonly atMs: number;
  readonly durationMs: number;
  /** Undefined: there is nothing to show of the event any more. */
  readonly delivered: Delivered | undefined;
}

/** A change of the progress, and the tries behind it. */
export interface ProgressChange {
  readonly progress: WebhookProgress;
  readonly attempts: readonly WebhookAttempt[];
}

/** The progress of an endpoint that was sent nothing yet. */
export function firstProgress({ since }: Pick<WebhookRecord, 'since'>): WebhookProgress {
  return { cursor: since, retries: [], dead: [], failingSinceMs: null, heldUntilMs: null };
}

/** The progress without failures, and without a wait that the endpoint asked for, from before it was enabled or got its address. */
export function forgiven(
  progress: WebhookProgress,
  { enabledAtMs }: Pick<WebhookRecord, 'enabledAtMs'>,
): WebhookProgress {
  const { failingSinceMs } = progress;
  if (failingSinceMs === null || failingSinceMs >= enabledAtMs) return progress;
  return { ...progress, failingSinceMs: null, heldUntilMs: null };
}

/** The progress with these places due at `dueAtMs`, from the first try on. */
export function withReplayed(
  progress: WebhookProgress,
  places: ReadonlySet<string>,
  dueAtMs: number,
): WebhookProgress {
  const again = [...places].map((place): WebhookRetry => ({ place, tries: 0, dueAtMs }));
  const kept = progress.retries.filter(({ place }) => !places.has(place));
  const dead = progress.dead.filter((place) => !places.has(place));
  return { ...progress, retries: [...kept, ...again], dead };
}

/** The progress with these tries behind it, and the record of each. What follows a try is counted from its own end. */
export function tallied(before: WebhookProgress, tried: readonly Tried[], random: Random): ProgressChange {
  let progress = before;
  const attempts: WebhookAttempt[] = [];
  for (const { event, tries, atMs, durationMs, delivered } of tried) {
    const place = event.streamId;
    if (delivered === undefined) continue;
    const number = tries + 1;
    const delayMs = delivered.error === null ? undefined : delayAfter(number, random);
    const isDead = delivered.error !== null && delayMs === undefined;
    const { status, error } = delivered;
    attempts.push({
      ...{ eventId: cursorOf(place), type: event.type, shopId: event.shopId },
      ...{ atMs, durationMs, number, status, error, isDead },
    });
    progress = after(progress, { delivered, place, number, endedAtMs: atMs + durationMs, delayMs });
  }
  return { progress, attempts };
}

/** The progress with one more try behind it; `delayMs` undefined: it was the last of its event. */
function after(
  progress: WebhookProgress,
  tried: {
    readonly delivered: Delivered;
    readonly place: string;
    readonly number: number;
    readonly endedAtMs: number;
    readonly delayMs: number | undefined;
  },
): WebhookProgress {
  const { delivered, place, number, endedAtMs, delayMs } = tried;
  if (delivered.error === null) return { ...progress, failingSinceMs: null };
  const failingSinceMs = progress.failingSinceMs ?? endedAtMs;
  const heldUntilMs = delivered.holdMs === null ? progress.heldUntilMs : endedAtMs + delivered.holdMs;
  const failed = { ...progress, failingSinceMs, heldUntilMs };
  // It was asked for once more while this try ran: that one counts.
  if (progress.retries.some((retry) => retry.place === place)) return failed;
  if (delayMs === undefined) return { ...failed, dead: [...progress.dead, place].slice(-MOST_DEAD) };
  return {
    ...failed,
    retries: [...progress.retries, { place, tries: number, dueAtMs: endedAtMs + delayMs }],
  };
}
