import { isBefore } from '../tenants/stored-events/event-cursor.ts';
import type { StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import type {
  WebhookProgress,
  WebhookRecord,
  WebhookRetry,
} from '../tenants/stored-webhooks/webhook-record.ts';
import type { Attempt, EndpointAttempts } from './endpoint-attempts.ts';
import type { EndpointPumpOptions, ReadEvents } from './endpoint-pump-options.ts';

/** The number of events in the progress at which the endpoint gets no new ones. These stay in the stream meanwhile. */
const MOST_RETRIES = 200;
/** The most events that wait for a retry or a replay. A replay that would exceed it is refused. */
export const MOST_WAITING = 2 * MOST_RETRIES;

/** True if an endpoint wants an event of this type and shop. */
export function isWanted(
  { types, shops }: Pick<WebhookRecord, 'types' | 'shops'>,
  { type, shopId }: Pick<StoredEvent, 'type' | 'shopId'>,
): boolean {
  return types?.includes(type) !== false && shops?.includes(shopId) !== false;
}

/** Attempts that may begin, and the progress with their events. */
interface ChosenAttempts {
  readonly attempts: readonly Attempt[];
  readonly progress: WebhookProgress;
}

/** Due retries, and the retries that are dropped because their events are no longer to be sent. */
interface DueRetries {
  readonly attempts: readonly Attempt[];
  readonly droppedRetries: ReadonlySet<WebhookRetry>;
  readonly missedUntilMs: number | undefined;
}

/** Chooses the events of one endpoint that are attempted next: due retries, then new events. */
export class NextAttempts {
  readonly #options: Pick<EndpointPumpOptions, 'eventAt' | 'eventsAfter'>;
  readonly #underWay: Pick<EndpointAttempts, 'retriesAtRest' | 'room' | 'roomAgain'>;
  readonly #webhook: () => WebhookRecord;
  /** True if the stream may have events after the cursor. */
  #hasNew = true;

  /** `webhook` returns the present record. */
  constructor(
    options: Pick<EndpointPumpOptions, 'eventAt' | 'eventsAfter'>,
    underWay: Pick<EndpointAttempts, 'retriesAtRest' | 'room' | 'roomAgain'>,
    webhook: () => WebhookRecord,
  ) {
    this.#options = options;
    this.#underWay = underWay;
    this.#webhook = webhook;
  }

  /** The next call of `choose` looks for new events. */
  expectNew(): void {
    this.#hasNew = true;
  }

  /**
   * Returns the due events, oldest first, then new events for the free slots. The progress is the same object if there
   * is nothing to attempt, to drop or to pass over. Rejects like a read.
   */
  async choose(before: WebhookProgress, nowMs: number): Promise<ChosenAttempts> {
    const due = await this.#due(before, nowMs);
    const room = this.#underWay.room - due.attempts.length;
    const waitingCount = before.retries.length - due.droppedRetries.size;
    const newEvents: ReadEvents =
      this.#hasNew && room > 0 && waitingCount < MOST_RETRIES
        ? await this.#readNew(before.cursor, room)
        : { events: [], place: before.cursor };
    const newAttempts = newEvents.events.map((event): Attempt => {
      const { streamId: place, shopId } = event;
      return { event, retry: { place, shopId, attemptCount: 0, dueAtMs: nowMs }, isNew: true };
    });
    const attempts = [...due.attempts, ...newAttempts];
    if (attempts.length + due.droppedRetries.size === 0 && newEvents.place === before.cursor)
      return { attempts, progress: before };
    const newRetries = newAttempts.map(({ retry }) => retry);
    const places = new Set(newRetries.map(({ place }) => place));
    const keptRetries = before.retries.filter(
      (retry) => !due.droppedRetries.has(retry) && !places.has(retry.place),
    );
    const missedUntilMs = newEvents.missedUntilMs ?? due.missedUntilMs;
    return {
      attempts,
      progress: {
        ...before,
        cursor: newEvents.place,
        retries: [...keptRetries, ...newRetries],
        ...(missedUntilMs === undefined ? {} : { missedUntilMs }),
      },
    };
  }

  /** Reads the events of the due retries that have room. */
  async #due(before: WebhookProgress, nowMs: number): Promise<DueRetries> {
    const dueRetries = this.#underWay
      .retriesAtRest(before.retries)
      // A stored time that is not a number is due too, so that the loop never sleeps until it.
      .filter(({ dueAtMs }) => !(dueAtMs > nowMs))
      .sort((left, right) => left.dueAtMs - right.dueAtMs)
      .slice(0, Math.max(0, this.#underWay.roomAgain));
    const attempts: Attempt[] = [];
    const droppedRetries = new Set<WebhookRetry>();
    let { missedUntilMs } = before;
    for (const retry of dueRetries) {
      const { event, missedUntilMs: cutOffMs } = await this.#options.eventAt(retry.place);
      missedUntilMs = cutOffMs ?? missedUntilMs;
      // An erased or removed event is dropped with its retry, and so is one that the endpoint no longer gets. An event
      // that was replayed before the cursor reached it starts as a new one.
      const isRead = !isBefore(before.cursor, retry.place);
      if (event !== undefined && isWanted(this.#webhook(), event) && isRead)
        attempts.push({ event, retry, isNew: false });
      else droppedRetries.add(retry);
    }
    return { attempts, droppedRetries, missedUntilMs };
  }

  async #readNew(cursor: string, limit: number): Promise<ReadEvents> {
    this.#hasNew = false;
    try {
      const newEvents = await this.#options.eventsAfter(cursor, limit, this.#webhook());
      // There may be more after the events that were read.
      if (newEvents.place !== cursor) this.#hasNew = true;
      return newEvents;
    } catch (error) {
      this.#hasNew = true;
      throw error;
    }
  }
}
