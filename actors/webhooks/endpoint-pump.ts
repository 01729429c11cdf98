import type { ArmedTimer } from '../../runtime/clock.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { isBefore } from '../tenant/event-cursor.ts';
import type { StoredEvent } from '../tenant/tenant-event.ts';
import type { WebhookProgress, WebhookRecord, WebhookRetry } from '../tenant/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import type { EndpointPace, EndpointPumpOptions } from './endpoint-pump-options.ts';
import {
  firstProgress,
  forgiven,
  type Looked,
  type ProgressChange,
  type ReplayedEvent,
  settled,
  withReplayed,
} from './progress.ts';
import { MOST_FAILING_MS } from './schedule.ts';
import type { Ended, LateTry, Try } from './tries.ts';
import { untilLate } from './until-late.ts';

/**
 * New events of one endpoint that are sent at a time; as many again may be on their way that were sent before. A kill may
 * have them all sent once more.
 */
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

/** Whether an endpoint is to get an event: it is of its types and of its shops. */
export function isWanted(
  { types, shops }: Pick<WebhookRecord, 'types' | 'shops'>,
  { type, shopId }: Pick<StoredEvent, 'type' | 'shopId'>,
): boolean {
  return types?.includes(type) !== false && shops?.includes(shopId) !== false;
}

/** What is tried next, and how far the endpoint is looked through with it. */
interface Next extends Omit<Looked, 'late'> {
  readonly tries: readonly Try[];
}

/**
 * Sends one endpoint its events: new ones from a cursor on, and those that failed as they fall due. What came of a few
 * is stored before the next few go out, so a kill repeats those at most, under the same ids. The next few wait for no
 * longer than `SLOW_MS`: behind events that hang, the schedule of the others would not hold.
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
  /** Late tries by the places of their events: whether the event is new, and when the outcome is stored. */
  readonly #late = new Map<string, { readonly isNew: boolean; readonly stored: Promise<void> }>();
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

  /** Tries under way may end, and none begin. */
  get isSettling(): boolean {
    return this.#isEnding;
  }

  /** Takes a changed record, which counts from the next event on; a pump that settles, or has settled, goes on. */
  update(webhook: WebhookRecord): void {
    this.#webhook = webhook;
    if (this.#isEnding) {
      this.#isEnding = false;
      this.#running = this.#running.then(() => this.#goOn());
    }
    this.wake();
  }

  /** Has the pump look for new events. */
  wake(): void {
    this.#isNews = true;
    this.#goOnNow();
  }

  /**
   * Sends these events once more, whatever became of them. Resolves once that is stored. False: more events would wait
   * than may (`MOST_WAITING`), and nothing changed.
   */
  async replay(events: readonly ReplayedEvent[]): Promise<boolean> {
    const isTaken = await this.#change((progress) => {
      const replayed = withReplayed(progress, events, this.#options.clock.wallMs());
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
    // One that went on meanwhile, and settles once more, has tries of its own.
    for (let settled: Promise<void> | undefined; settled !== this.#running; ) {
      settled = this.#running;
      await settled;
      await Promise.all([...this.#late.values()].map(({ stored }) => stored));
    }
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
        this.#failed(error);
        await this.#sleep(AGAIN_MS);
      }
    }
  }

  #failed(error: unknown): void {
    if (this.#isStopped || error instanceof RuntimeFailure) return;
    const { id: webhookId } = this.#webhook;
    this.#options.log.error({ webhookId, err: error }, 'a webhook could not go on; it tries again');
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
    const { ended, late } = await this.#sendAll(tries, bodies);
    if (this.#isStopped || (tries.length > 0 && ended.length + late.length === 0)) return;
    this.#learnPace(ended);
    // One that goes ahead has begun, or it would not be late.
    if (this.#pace === 'unknown' && late.length > 0) this.#pace = 'slow';
    try {
      await this.#record(ended, { ...next, late });
    } finally {
      // Also where what followed the commit failed.
      const { cursor: stored } = this.#progress ?? progress;
      const isKnown = ({ event }: LateTry): boolean => !isBefore(stored, event.streamId);
      for (const one of late) if (isKnown(one)) this.#keepLate(one);
      // The others are not known as retries, and would go out once more before they have ended.
      await Promise.all(late.filter((one) => !isKnown(one)).map(({ end }) => end));
    }
  }

  /**
   * Sends them, and comes back once all have ended, or a while after the first has begun. Of those that may not begin any more the new ones
   * are told with the late: the cursor goes past them, and the next pump tries them first. None where all are such. Never
   * rejects.
   */
  async #sendAll(
    tries: readonly Try[],
    bodies: readonly (string | Delivered | undefined)[],
  ): Promise<{ readonly ended: readonly Ended[]; readonly late: readonly LateTry[] }> {
    const { clock } = this.#options;
    const run = (one: Try, index: number, began: () => void): Promise<Ended | undefined> =>
      this.#try(one, bodies[index], began);
    const { ended, ends } = await untilLate(tries, run, { clock, lateMs: SLOW_MS });
    const over = tries.flatMap((one) => ended.get(one) ?? []);
    if (over.length === 0 && ended.size === tries.length) return { ended: [], late: [] };
    const dueAtMs = clock.wallMs();
    const late = tries.flatMap((one, index): readonly LateTry[] => {
      const end = ends[index];
      if (end === undefined || ended.get(one) !== undefined) return [];
      const { streamId: place, shopId } = one.event;
      const retry = one.retry ?? { place, shopId, tries: one.tries, dueAtMs };
      return [
        {
          ...one,
          retry,
          isNew: one.retry === undefined,
          end: end.then((over) => over && { ...over, retry }),
        },
      ];
    });
    return { ended: over, late };
  }

  /** Of a late try nothing is known before it has ended: it may have waited for its turn among those of other endpoints. */
  #learnPace(ended: readonly Ended[]): void {
    if (ended.length > 0) this.#pace = ended.some(isSlow) ? 'slow' : 'quick';
  }

  /** Stores what comes of a late try. Where it cannot be stored, the event is sent once more. */
  #keepLate({ event, isNew, end }: LateTry): void {
    const place = event.streamId;
    const stored = end
      .then((ended) => {
        // The pump ended before its turn came.
        if (ended === undefined) return undefined;
        this.#learnPace([ended]);
        return this.#record([ended]);
      })
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#late.delete(place);
        this.#goOnNow();
      });
    this.#late.set(place, { isNew, stored });
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
    const most = this.#most;
    const due = this.#resting(progress.retries)
      .filter(({ dueAtMs }) => dueAtMs <= nowMs)
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, Math.max(0, most - this.#lateRetries));
    const tries: Try[] = [];
    const dropped: WebhookRetry[] = [];
    let missedUntilMs: number | undefined;
    for (const retry of due) {
      const { event, missedUntilMs: cutOffMs } = await this.#options.at(retry.place);
      missedUntilMs = cutOffMs ?? missedUntilMs;
      // An erased or long past one goes with its retry, and so does one that the endpoint is not to get. One that was
      // replayed before its turn comes as a new one.
      const isNew = isBefore(cursor, retry.place);
      if (event !== undefined && isWanted(this.#webhook, event) && !isNew)
        tries.push({ event, tries: retry.tries, retry });
      else dropped.push(retry);
    }
    const room = most - this.#late.size - tries.length;
    const waiting = progress.retries.length - dropped.length;
    const known = { tries, dropped, cursor, missedUntilMs };
    if (!this.#isNews || room <= 0 || waiting >= MOST_RETRIES) return known;
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

  /** Undefined: the pump ended while the try waited for its turn. `began` is called when that came. */
  async #try(one: Try, body: string | Delivered | undefined, began: () => void): Promise<Ended | undefined> {
    const { url } = this.#webhook;
    if (typeof body !== 'string')
      return { ...one, url, atMs: this.#options.clock.wallMs(), durationMs: 0, delivered: body };
    const mayBegin = (): boolean => {
      began();
      return this.#goesOn;
    };
    const to = { webhook: this.#webhook, pace: this.#pace, mayBegin };
    const sent = await this.#options.send(one.event, body, to);
    return sent && { ...one, url, ...sent };
  }

  /** Stores what came of these tries, and how far the endpoint is looked through with them; `undefined` of a late one. */
  async #record(ended: readonly Ended[], looked?: Looked): Promise<void> {
    const { clock, random } = this.#options;
    const nowMs = clock.wallMs();
    await this.#change((before) => settled(before, ended, looked, random));
    const missedUntilMs = looked?.missedUntilMs;
    if (missedUntilMs !== undefined) this.#options.missed(this.#webhook.id, missedUntilMs);
    const { url, enabledAtMs } = this.#webhook;
    // A 410 of a former address, or from before it was enabled, says nothing of the present one.
    const isGone = ended.some(
      (one) => one.delivered?.status === 410 && one.url === url && one.atMs >= enabledAtMs,
    );
    const { failingSinceMs } = await this.#current();
    const isFailing = nowMs - (failingSinceMs ?? nowMs) >= MOST_FAILING_MS;
    if (isGone || isFailing) await this.#options.disable(this.#webhook.id, isGone ? 'gone' : 'failing');
  }

  /** Until the next one is due, or there are new events and room for them. */
  async #idle(nowMs: number): Promise<void> {
    // As it stands at this very moment: what ends from here on finds the pump asleep, and wakes it.
    const { retries } = this.#progress ?? { retries: [] };
    if (this.#isNews && this.#late.size < this.#most && retries.length < MOST_RETRIES) return;
    const lookAtMs = nowMs + LOOK_MS;
    // While as many are sent once more as may be, the end of one goes on with the next.
    const resting = this.#lateRetries < this.#most ? this.#resting(retries) : [];
    const dueAtMs = Math.min(lookAtMs, ...resting.map((retry) => retry.dueAtMs));
    await this.#sleep(Math.max(0, dueAtMs - nowMs));
    if (dueAtMs === lookAtMs) this.#isNews = true;
  }

  /** One goes ahead, so that endpoints which turn out to be dead hold few slots of those that are new. */
  get #most(): number {
    return this.#pace === 'unknown' ? 1 : AT_A_TIME;
  }

  /** Those that are not on their way. */
  #resting(retries: readonly WebhookRetry[]): readonly WebhookRetry[] {
    return this.#late.size === 0 ? retries : retries.filter(({ place }) => !this.#late.has(place));
  }

  /** Late tries of events that were sent before. */
  get #lateRetries(): number {
    return [...this.#late.values()].filter(({ isNew }) => !isNew).length;
  }

  #goOnNow(): void {
    this.#sleeping?.timer.cancel();
    this.#sleeping?.wake();
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
