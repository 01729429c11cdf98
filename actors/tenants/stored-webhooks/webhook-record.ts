/** An endpoint to which a tenant's events are sent, as it is stored. Times in milliseconds since the Unix epoch. */
export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  /** Only these types of event. If null, all. */
  readonly types: readonly string[] | null;
  /** Only these shops' events. If null, all. */
  readonly shops: readonly string[] | null;
  /** The signing secret, sealed. */
  readonly secret: string;
  /** The previous secret, sealed, which also signs until `untilMs`. Null if there is none. */
  readonly former: FormerSecret | null;
  /** Older secrets that still sign, the newest first. Absent before the first rotation. */
  readonly earlier?: readonly FormerSecret[];
  /** The position in the tenant's stream from which it gets events. */
  readonly since: string;
  readonly createdAtMs: number;
  /** When it was last enabled or got another address, later each time: failures before that are forgiven. */
  readonly enabledAtMs: number;
  /** When it was disabled, and the reason, which is stored as `why`. Null if it is enabled. */
  readonly disabled: { readonly atMs: number; readonly why: WebhookEnd } | null;
}

/**
 * Returns the moment at which an endpoint is enabled or moved. An endpoint never begins twice at one moment, even if
 * the clock repeats one. Failures name the moment, so older ones are known as such.
 */
export function laterEnabledAtMs({ enabledAtMs }: Pick<WebhookRecord, 'enabledAtMs'>, nowMs: number): number {
  return Math.max(nowMs, enabledAtMs + 1);
}

/** A secret that was rotated away, sealed. */
export interface FormerSecret {
  readonly secret: string;
  /** Until then it also signs. */
  readonly untilMs: number;
}

/**
 * The reason why an endpoint gets no events.
 * - `operator` or `tenant`: they disabled it.
 * - `gone`: it answered 410.
 * - `failing`: all attempts failed for five days.
 * - `unreadable`: no configured key opens its secret.
 */
export type WebhookEnd = WebhookKeeper | 'gone' | 'failing' | 'unreadable';

/** The two kinds of callers that make and change an endpoint. */
export type WebhookKeeper = 'operator' | 'tenant';

/**
 * The progress of an endpoint. Each event for it up to `cursor` was delivered, waits for a retry, is a dead letter, or
 * was removed.
 */
export interface WebhookProgress {
  /** A position in the tenant's stream. */
  readonly cursor: string;
  readonly retries: readonly WebhookRetry[];
  /** Undelivered events (dead letters), the newest last, bounded (`undeliveredEvent`). */
  readonly dead: readonly string[];
  /** The time since which no attempt succeeded. Null if the last one did, or there was none. */
  readonly failingSinceMs: number | null;
  /** The end of the hold that the endpoint asked for: it gets no request before. Null if it asked for none. */
  readonly heldUntilMs: number | null;
  /** `enabledAtMs` of the endpoint when it failed or asked for the hold. */
  readonly countedForMs: number;
  /** Events from before this time were removed by age or number and not sent. Absent if none ever were. */
  readonly missedUntilMs?: number;
}

/** An event that is to be retried. */
export interface WebhookRetry {
  /** Its position in the tenant's stream. */
  readonly place: string;
  /** The event's shop, with which the retry is erased. */
  readonly shopId: string;
  /** The number of attempts so far. */
  readonly attemptCount: number;
  readonly dueAtMs: number;
}

/** The result of one attempt. */
export interface WebhookAttempt {
  /** The event's id, as callers see it. */
  readonly eventId: string;
  readonly type: string;
  /** The event's shop, with which the attempt is erased. */
  readonly shopId: string;
  readonly atMs: number;
  readonly durationMs: number;
  /** Counted from 1. */
  readonly number: number;
  /** Null if no response came. */
  readonly status: number | null;
  /** Null if it succeeded. */
  readonly error: string | null;
  /** True if it was the last one: the event is a dead letter. */
  readonly isDead: boolean;
}

/** The fields of an endpoint that its keepers may change. */
export type WebhookChanges = Partial<Pick<WebhookRecord, 'url' | 'types' | 'shops' | 'disabled'>>;
