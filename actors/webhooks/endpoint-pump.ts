import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { StoredEvent } from '../tenant/tenant-event.ts';
import type {
  WebhookAttempt,
  WebhookEnd,
  WebhookProgress,
  WebhookRecord,
  WebhookRetry,
} from '../tenant/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import {
  firstProgress,
  forgiven,
  type ProgressChange,
  type Tried,
  tallied,
  withReplayed,
} from './progress.ts';
import { MOST_FAILING_MS } from './schedule.ts';

/** Events of one endpoint that are sent at a time, and that a kill may have sent once more. */
const AT_A_TIME = 8;
/** Events that wait to be tried again; with more the endpoint gets no new ones, which stay in the stream meanwhile. */
const MOST_RETRIES = 200;
/** The same with those that were asked for once more: a replay that would make them more is refused. */
export const MOST_WAITING = 2 * MOST_RETRIES;
/** An endpoint that takes longer, or does not answer at all, is slow. */
export const SLOW_MS = 1_000;
/** Time between two tries to read or to store. */
const AGAIN_MS = 1_000;
/** How often the pump looks for new events by itself: nobody tells of a commit whose reply was lost. */
const LOOK_MS = 5 * 60_000;
/** The outcome of an event whose data is broken: the schedule ends it, and it holds up no other. */
const UNREADABLE: Delivered = { status: null, error: 'the event could not be read', holdMs: null };

/** New events, and the place behind all that was looked at for them. */
export interface ReadEvents extends Missed {
  readonly events: readonly StoredEvent[];
  readonly place: string;
}

/** The event at a place; undefined: it was erased or cut off. */
export interface KeptEvent extends Missed {
  readonly event: StoredEvent | undefined;
}

interface Missed {
  /** Events from before then that were to be read are cut off; absent: none are. */
  readonly missedUntilMs?: number | undefined;
}

/** Whether an endpoint is to get an event: it is of its types and of its shops. */
export function isWanted(
  { types, shops }: Pick<WebhookRecord, 'types' | 'shops'>,
  { type, shopId }: Pick<StoredEvent, 'type' | 'shopId'>,
): boolean {
  return types?.includes(type) !== false && shops?.includes(shopId) !== false;
}

/** What came of sending an event, and when it went out. */
export interface SentEvent {
  readonly delivered: Delivered;
  readonly atMs: number;
  readonly durationMs: number;
}

/** Whether an endpoint answered at once the last time. */
export type EndpointPace = 'unknown' | 'quick' | 'slow';

/** The reads, writes and the sending of one endpoint's pump. Each may reject with `RuntimeFailure`. */
export interface EndpointPumpOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** What is stored of how far it came; undefined: nothing yet. */
  progress(webhookId: string): Promise<WebhookProgress | undefined>;
  /** Events for this endpoint behind a place, at most `limit`. */
  after(place: string, limit: number, webhook: WebhookRecord): Promise<ReadEvents>;
  at(place: string): Promise<KeptEvent>;
  /** What is sent of it; undefined: there is nothing to show of it any more. */
  body(event: StoredEvent): Promise<string | undefined>;
  /** Undefined: its turn came when it might not begin any more. Never rejects. */
  send(
    event: StoredEvent,
    body: string,
    to: {
      readonly webhook: WebhookRecord;
      readonly pace: EndpointPace;
      /** Asked when the turn of the try has come, which may be minutes later. */
      readonly mayBegin: () => boolean;
    },
  ): Promise<SentEvent | undefined>;
  /** Within the fenced commit of the tenant's actor. False: the endpoint is gone, or sent events by another pump. */
  store(webhookId: string, progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean>;
  disable(webhookId: string, why: WebhookEnd): Promise<void>;
  /** Tells operators that the endpoint will not get events from before then. */
  missed(webhookId: string, untilMs: number): void;
}

/** An event on its way, and how often it was tried before. */
interface Try {
  readonly event: StoredEvent;
  readonly tries: number;
  /** What stood among the retries for it; undefined: it is new. */
  readonly retry?: WebhookRetry;
}

/** What is tried next, and how far the endpoint is looked through with it. */
interface Next extends Missed {
  readonly tries: readonly Try[];
  /** Retries that nothing is to be sent for any more. */
  readonly dropped: readonly WebhookRetry[];
  readonly cursor: string;
}

/** One try that is over. */
interface Ended extends Tried, Pick<Try, 'retry'> {
  /** The address that answered. */
  readonly url: string;
}

/**
 * Sends one endpoint its events: new ones from a cursor on, and those that failed as they fall due. What came of a few
 * is stored before the next few go out, so a kill repeats those at most, under the same ids.
 */
export class EndpointPump {
  readonly #options: EndpointPumpOptions;
  #webhook: WebhookRecord;
  #progress: WebhookProgress | undefined;
  #isStopped = false;
  #isEnding = false;
  /** Until the pump runs no more. */
  #running: Promise<void> = Promise.resolve();
  #isNews = true;
  #pace: EndpointPace = 'unknown';
  /** The last change of the progress: each starts from what the one before stored. */
  #stored: Promise<unknown> = Promise.resolve();
  #sleeping: { readonly timer: ArmedTimer; readonly wake: () => void } | undefined;

  constructor(webhook: WebhookRecord, options: EndpointPumpOptions) {
    this.#webhook = webhook;
    this.#options = options;
  }

  /** Tries may begin. */
  get #goesOn(): boolean {
    return !this.#isStopped && !this.#isEnding;
  }

  /** Events that wait to be tried again. */
  get waiting(): number {
    return this.#progress?.retries.length ?? 0;
  }

  /** Takes a changed record, which counts from the next event on. */
  update(webhook: WebhookRecord): void {
    this.#webhook = webhook;
    this.wake();
  }

  /** Has the pump look for new events. */
  wake(): void {
    this.#isNews = true;
    this.#sleeping?.timer.cancel();
    this.#sleeping?.wake();
  }

  /**
   * Sends these events once more, whatever became of them. Resolves once that is stored. False: more events would wait
   * than may (`MOST_WAITING`), and nothing changed.
   */
  async replay(places: readonly string[]): Promise<boolean> {
    const isTaken = await this.#change((progress) => {
      const replayed = withReplayed(progress, new Set(places), this.#options.clock.wallMs());
      return replayed.retries.length > MOST_WAITING ? undefined : { progress: replayed, attempts: [] };
    });
    this.wake();
    return isTaken;
  }

  /** Ends the pump; the outcome of a try under way is not recorded. */
  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  /** Begins no try any more; resolves once the outcomes of those under way are stored. Never rejects. */
  async settle(): Promise<void> {
    this.#isEnding = true;
    this.wake();
    await this.#running;
  }

  /** Runs until it is stopped. Never rejects. */
  run(): Promise<void> {
    this.#running = this.#goOn();
    return this.#running;
  }

  async #goOn(): Promise<void> {
    while (this.#goesOn) {
      try {
        await this.#step();
      } catch (error) {
        if (this.#isStopped) return;
        if (!(error instanceof RuntimeFailure)) {
          const { id: webhookId } = this.#webhook;
          this.#options.log.error({ webhookId, err: error }, 'a webhook could not go on; it tries again');
        }
        await this.#sleep(AGAIN_MS);
      }
    }
  }

  async #step(): Promise<void> {
    const progress = await this.#current();
    const nowMs = this.#options.clock.wallMs();
    const heldMs = (progress.heldUntilMs ?? 0) - nowMs;
    if (heldMs > 0) return this.#sleep(heldMs);
    const next = await this.#next(progress, nowMs);
    const { tries, dropped, cursor } = next;
    if (tries.length + dropped.length === 0 && cursor === progress.cursor) return this.#idle(nowMs);
    // All are read before the first is sent: a store that is away must not have the others sent once a second.
    const bodies = await Promise.all(tries.map(({ event }) => this.#body(event)));
    if (!this.#goesOn) return;
    const outcomes = await Promise.all(tries.map((one, index) => this.#try(one, bodies[index])));
    const ended = outcomes.filter((outcome) => outcome !== undefined);
    if (this.#isStopped || (ended.length === 0 && tries.length > 0)) return;
    if (ended.length > 0) this.#pace = ended.some(isSlow) ? 'slow' : 'quick';
    // The cursor goes past those that did not begin any more: the next pump tries them first.
    const left = tries.filter(({ retry }, index) => retry === undefined && outcomes[index] === undefined);
    await this.#record(next, ended, left);
  }

  async #current(): Promise<WebhookProgress> {
    if (this.#progress === undefined) {
      const stored = await this.#options.progress(this.#webhook.id);
      this.#progress ??= stored ?? firstProgress(this.#webhook);
      if (this.#progress.failingSinceMs !== null) this.#pace = 'slow';
    }
    this.#progress = forgiven(this.#progress, this.#webhook);
    return this.#progress;
  }

  /** Changes the progress and stores it, one change after the other. False: `changed` left it as it is. */
  #change(changed: (progress: WebhookProgress) => ProgressChange | undefined): Promise<boolean> {
    const change = this.#stored.then(async () => {
      const next = changed(await this.#current());
      if (next === undefined) return false;
      // Another pump, here or elsewhere, may have gone on from what is stored.
      if (this.#isStopped || !(await this.#options.store(this.#webhook.id, next.progress, next.attempts))) {
        this.#isStopped = true;
        throw new RuntimeFailure('SHARD_NOT_OWNED', 'the webhook is sent events from here no more');
      }
      this.#progress = next.progress;
      return true;
    });
    // The caller hears of a failure; the next change goes on from what is stored.
    this.#stored = change.catch(() => undefined);
    return change;
  }

  /** What is due, the oldest first, and then new events as far as there is room. */
  async #next(progress: WebhookProgress, nowMs: number): Promise<Next> {
    const { cursor } = progress;
    // One goes ahead, so that endpoints which turn out to be dead hold few slots of those that are new.
    const most = this.#pace === 'unknown' ? 1 : AT_A_TIME;
    const due = progress.retries
      .filter(({ dueAtMs }) => dueAtMs <= nowMs)
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, most);
    const tries: Try[] = [];
    const dropped: WebhookRetry[] = [];
    let missedUntilMs: number | undefined;
    for (const retry of due) {
      const { event, missedUntilMs: cutOffMs } = await this.#options.at(retry.place);
      missedUntilMs = cutOffMs ?? missedUntilMs;
      // An erased or long past one goes with its retry, and so does one that the endpoint is not to get.
      if (event !== undefined && isWanted(this.#webhook, event))
        tries.push({ event, tries: retry.tries, retry });
      else dropped.push(retry);
    }
    const room = most - tries.length;
    const waiting = progress.retries.length - dropped.length;
    const known = { tries, dropped, cursor, missedUntilMs };
    if (!this.#isNews || room === 0 || waiting >= MOST_RETRIES) return known;
    this.#isNews = false;
    const read = await this.#options.after(cursor, room, this.#webhook).catch((error) => {
      this.#isNews = true;
      throw error;
    });
    if (read.place === cursor) return known;
    // There may be more behind what was looked at.
    this.#isNews = true;
    const fresh = read.events.map((event): Try => ({ event, tries: 0 }));
    missedUntilMs = read.missedUntilMs ?? missedUntilMs;
    return { tries: [...tries, ...fresh], dropped, cursor: read.place, missedUntilMs };
  }

  async #body(event: StoredEvent): Promise<string | Delivered | undefined> {
    try {
      return await this.#options.body(event);
    } catch (error) {
      if (error instanceof RuntimeFailure) throw error;
      const { id: webhookId } = this.#webhook;
      this.#options.log.error({ webhookId, place: event.streamId, err: error }, 'an event cannot be read');
      return UNREADABLE;
    }
  }

  /** Undefined: the pump ended while the try waited for its turn. */
  async #try(one: Try, body: string | Delivered | undefined): Promise<Ended | undefined> {
    const { url } = this.#webhook;
    if (typeof body !== 'string')
      return { ...one, url, atMs: this.#options.clock.wallMs(), durationMs: 0, delivered: body };
    const to = { webhook: this.#webhook, pace: this.#pace, mayBegin: () => this.#goesOn };
    const sent = await this.#options.send(one.event, body, to);
    return sent && { ...one, url, ...sent };
  }

  async #record(
    { dropped, cursor, missedUntilMs }: Next,
    ended: readonly Ended[],
    left: readonly Try[],
  ): Promise<void> {
    const { clock, random } = this.#options;
    const nowMs = clock.wallMs();
    await this.#change((before) => {
      const settled = new Set([...dropped, ...ended.flatMap(({ retry }) => retry ?? [])]);
      // A replay that came meanwhile keeps its places.
      const kept = before.retries.filter((retry) => !settled.has(retry));
      const again = left
        .map(({ event, tries }): WebhookRetry => ({ place: event.streamId, tries, dueAtMs: nowMs }))
        .filter(({ place }) => !kept.some((retry) => retry.place === place));
      const retries = [...kept, ...again];
      const missed = missedUntilMs === undefined ? {} : { missedUntilMs };
      return tallied({ ...before, retries, cursor, ...missed }, ended, { nowMs, random });
    });
    if (missedUntilMs !== undefined) this.#options.missed(this.#webhook.id, missedUntilMs);
    // A 410 of a former address says nothing of the present one.
    const isGone = ended.some(({ delivered, url }) => delivered?.status === 410 && url === this.#webhook.url);
    const { failingSinceMs } = await this.#current();
    const isFailing = nowMs - (failingSinceMs ?? nowMs) >= MOST_FAILING_MS;
    if (isGone || isFailing) await this.#options.disable(this.#webhook.id, isGone ? 'gone' : 'failing');
  }

  /** Until the next one is due, or there are new events and room for them. */
  async #idle(nowMs: number): Promise<void> {
    const { retries } = await this.#current();
    if (this.#isNews && retries.length < MOST_RETRIES) return;
    const lookAtMs = nowMs + LOOK_MS;
    const dueAtMs = Math.min(lookAtMs, ...retries.map((retry) => retry.dueAtMs));
    await this.#sleep(Math.max(0, dueAtMs - nowMs));
    if (dueAtMs === lookAtMs) this.#isNews = true;
  }

  async #sleep(ms: number): Promise<void> {
    if (!this.#goesOn) return;
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(ms, resolve);
      this.#sleeping = { timer, wake: resolve };
    });
    this.#sleeping = undefined;
  }
}

function isSlow({ delivered, durationMs }: Ended): boolean {
  return delivered?.status === null || durationMs > SLOW_MS;
}
