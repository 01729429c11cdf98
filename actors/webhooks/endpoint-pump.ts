import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { cursorOf } from '../tenant/event-cursor.ts';
import type { StoredEvent } from '../tenant/tenant-event.ts';
import type {
  WebhookAttempt,
  WebhookEnd,
  WebhookProgress,
  WebhookRecord,
  WebhookRetry,
} from '../tenant/webhook-record.ts';
import type { Delivered } from './deliver.ts';
import { delayAfter, MOST_FAILING_MS } from './schedule.ts';

/** Events of one endpoint that are sent at a time, and that a kill may have sent once more. */
const AT_A_TIME = 8;
/** Events that wait to be tried again; with more the endpoint gets no new ones, which stay in the stream meanwhile. */
const MOST_RETRIES = 200;
/** The same with those that were asked for once more: a replay that would make them more is refused. */
export const MOST_WAITING = 2 * MOST_RETRIES;
/** Dead letters whose places are remembered. */
const MOST_DEAD = 1_000;
/** Between two tries to read or to store. */
const AGAIN_MS = 1_000;

/** New events, and the place behind all that was looked at for them. */
export interface ReadEvents {
  readonly events: readonly StoredEvent[];
  readonly place: string;
}

/** Whether an endpoint is to get an event: it is of its types and of its shops. */
export function isWanted(
  { types, shops }: Pick<WebhookRecord, 'types' | 'shops'>,
  { type, shopId }: Pick<StoredEvent, 'type' | 'shopId'>,
): boolean {
  return types?.includes(type) !== false && shops?.includes(shopId) !== false;
}

/** What an endpoint's pump works with. All may reject with `RuntimeFailure`. */
export interface EndpointPumpOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** What is stored of how far it came; undefined: nothing yet. */
  progress(webhookId: string): Promise<WebhookProgress | undefined>;
  /** Events for this endpoint behind a place, at most `limit`. */
  after(place: string, limit: number, webhook: WebhookRecord): Promise<ReadEvents>;
  /** The event at a place; undefined: it is kept no more. */
  at(place: string): Promise<StoredEvent | undefined>;
  /** Sends it; undefined: there is nothing to show of it any more. */
  send(event: StoredEvent, webhook: WebhookRecord): Promise<Delivered | undefined>;
  /** Within the fenced commit of the tenant's actor. False: there is no such endpoint any more. */
  store(webhookId: string, progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean>;
  disable(webhookId: string, why: WebhookEnd): Promise<void>;
}

/** An event on its way, and how often it was tried before. */
interface Try {
  readonly event: StoredEvent;
  readonly tries: number;
  /** What stood among the retries for it; undefined: it is new. */
  readonly retry?: WebhookRetry;
}

/** What is tried next, and how far the endpoint is looked through with it. */
interface Next {
  readonly tries: readonly Try[];
  /** Retries that nothing is to be sent for any more. */
  readonly dropped: readonly WebhookRetry[];
  readonly cursor: string;
}

interface Tried extends Try {
  readonly atMs: number;
  readonly durationMs: number;
  readonly delivered: Delivered | undefined;
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
  #isNews = true;
  /** The last change of the progress: each starts from what the one before stored. */
  #stored: Promise<unknown> = Promise.resolve();
  #sleeping: { readonly timer: ArmedTimer; readonly wake: () => void } | undefined;

  constructor(webhook: WebhookRecord, options: EndpointPumpOptions) {
    this.#webhook = webhook;
    this.#options = options;
  }

  /** Events that wait to be tried again. */
  get waiting(): number {
    return this.#progress?.retries.length ?? 0;
  }

  /** Its record changed: from the next event on it counts. */
  update(webhook: WebhookRecord): void {
    this.#webhook = webhook;
    this.wake();
  }

  /** The tenant has new events. */
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
      const replayed = this.#withReplayed(progress, new Set(places));
      return replayed.retries.length > MOST_WAITING ? undefined : { progress: replayed, attempts: [] };
    });
    this.wake();
    return isTaken;
  }

  /** Ends it; what is on its way is not recorded. */
  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  /** Runs until it is stopped. Never rejects. */
  async run(): Promise<void> {
    while (!this.#isStopped) {
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
    if (tries.length + dropped.length === 0 && cursor === progress.cursor) return this.#idle(progress, nowMs);
    const tried = await Promise.all(tries.map((one) => this.#try(one)));
    if (this.#isStopped) return;
    await this.#record(next, tried);
  }

  async #current(): Promise<WebhookProgress> {
    this.#progress ??= await this.#loaded();
    return this.#progress;
  }

  /** Stores what comes of the progress, one change after the other. False: it was to stay as it is. */
  #change(
    changed: (
      progress: WebhookProgress,
    ) => { readonly progress: WebhookProgress; readonly attempts: readonly WebhookAttempt[] } | undefined,
  ): Promise<boolean> {
    const change = this.#stored.then(async () => {
      const next = changed(await this.#current());
      if (next === undefined) return false;
      // Another pump, here or elsewhere, may have gone on from what is stored.
      if (this.#isStopped)
        throw new RuntimeFailure('SHARD_NOT_OWNED', 'the webhook is sent events from here no more');
      if (!(await this.#options.store(this.#webhook.id, next.progress, next.attempts)))
        this.#isStopped = true;
      this.#progress = next.progress;
      return true;
    });
    // The caller hears of a failure; the next change goes on from what is stored.
    this.#stored = change.catch(() => undefined);
    return change;
  }

  async #loaded(): Promise<WebhookProgress> {
    const { id, since, enabledAtMs } = this.#webhook;
    const stored = await this.#options.progress(id);
    const fresh = { cursor: since, retries: [], dead: [], failingSinceMs: null, heldUntilMs: null };
    const progress = stored ?? fresh;
    const isForgiven = (progress.failingSinceMs ?? 0) < enabledAtMs;
    return isForgiven ? { ...progress, failingSinceMs: null } : progress;
  }

  /** What is to be replayed is due now, from the first try on. */
  #withReplayed(progress: WebhookProgress, places: ReadonlySet<string>): WebhookProgress {
    const dueAtMs = this.#options.clock.wallMs();
    const again = [...places].map((place): WebhookRetry => ({ place, tries: 0, dueAtMs }));
    const kept = progress.retries.filter(({ place }) => !places.has(place));
    const dead = progress.dead.filter((place) => !places.has(place));
    return { ...progress, retries: [...kept, ...again], dead };
  }

  /** What is due, the oldest first, and then new events as far as there is room. */
  async #next(progress: WebhookProgress, nowMs: number): Promise<Next> {
    const { cursor } = progress;
    const due = progress.retries
      .filter(({ dueAtMs }) => dueAtMs <= nowMs)
      .sort((one, other) => one.dueAtMs - other.dueAtMs)
      .slice(0, AT_A_TIME);
    const tries: Try[] = [];
    const dropped: WebhookRetry[] = [];
    for (const retry of due) {
      const event = await this.#options.at(retry.place);
      // An erased or long past one goes with its retry, and so does one that the endpoint is not to get.
      if (event !== undefined && isWanted(this.#webhook, event))
        tries.push({ event, tries: retry.tries, retry });
      else dropped.push(retry);
    }
    const room = AT_A_TIME - tries.length;
    const waiting = progress.retries.length - dropped.length;
    if (!this.#isNews || room === 0 || waiting >= MOST_RETRIES) return { tries, dropped, cursor };
    this.#isNews = false;
    const { events, place } = await this.#options.after(cursor, room, this.#webhook);
    if (place === cursor) return { tries, dropped, cursor };
    // There may be more behind what was looked at.
    this.#isNews = true;
    const fresh = events.map((event): Try => ({ event, tries: 0 }));
    return { tries: [...tries, ...fresh], dropped, cursor: place };
  }

  async #try(one: Try): Promise<Tried> {
    const { clock } = this.#options;
    const atMs = clock.wallMs();
    const startedMs = clock.monotonicMs();
    const delivered = await this.#options.send(one.event, this.#webhook);
    return { ...one, atMs, durationMs: Math.round(clock.monotonicMs() - startedMs), delivered };
  }

  async #record({ dropped, cursor }: Next, tried: readonly Tried[]): Promise<void> {
    const nowMs = this.#options.clock.wallMs();
    await this.#change((before) => {
      const settled = new Set([...dropped, ...tried.flatMap(({ retry }) => retry ?? [])]);
      // What was asked for once more meanwhile stays.
      const retries = before.retries.filter((retry) => !settled.has(retry));
      return this.#tallied({ ...before, retries, cursor }, tried, nowMs);
    });
    const isGone = tried.some(({ delivered }) => delivered?.status === 410);
    const failingSinceMs = this.#progress?.failingSinceMs ?? nowMs;
    const isFailing = nowMs - failingSinceMs >= MOST_FAILING_MS;
    if (isGone || isFailing) await this.#options.disable(this.#webhook.id, isGone ? 'gone' : 'failing');
  }

  /** How far the endpoint is with these tries behind it, and what is noted of them. */
  #tallied(
    before: WebhookProgress,
    tried: readonly Tried[],
    nowMs: number,
  ): { readonly progress: WebhookProgress; readonly attempts: readonly WebhookAttempt[] } {
    let progress = before;
    const attempts: WebhookAttempt[] = [];
    for (const { event, tries, atMs, durationMs, delivered } of tried) {
      const place = event.streamId;
      if (delivered === undefined) continue;
      const number = tries + 1;
      const delayMs = delivered.error === null ? undefined : delayAfter(number, this.#options.random);
      const isDead = delivered.error !== null && delayMs === undefined;
      const { status, error } = delivered;
      attempts.push({
        ...{ eventId: cursorOf(place), type: event.type, atMs, durationMs, number, status, error, isDead },
      });
      progress = after(progress, { delivered, place, number, nowMs, delayMs });
    }
    return { progress, attempts };
  }

  /** Until the next one is due, or there are new events and room for them. */
  async #idle({ retries }: WebhookProgress, nowMs: number): Promise<void> {
    if (this.#isNews && retries.length < MOST_RETRIES) return;
    const dueAtMs = Math.min(nowMs + LONG_MS, ...retries.map((retry) => retry.dueAtMs));
    await this.#sleep(Math.max(0, dueAtMs - nowMs));
  }

  async #sleep(ms: number): Promise<void> {
    if (this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(ms, resolve);
      this.#sleeping = { timer, wake: resolve };
    });
    this.#sleeping = undefined;
  }
}

/** An endpoint with nothing to do looks this often all the same. */
const LONG_MS = 3_600_000;

/** How far the endpoint is with one more try behind it. */
function after(
  progress: WebhookProgress,
  tried: {
    readonly delivered: Delivered;
    readonly place: string;
    readonly number: number;
    readonly nowMs: number;
    readonly delayMs: number | undefined;
  },
): WebhookProgress {
  const { delivered, place, number, nowMs, delayMs } = tried;
  if (delivered.error === null) return { ...progress, failingSinceMs: null };
  const failingSinceMs = progress.failingSinceMs ?? nowMs;
  const heldUntilMs = delivered.holdMs === null ? progress.heldUntilMs : nowMs + delivered.holdMs;
  const failed = { ...progress, failingSinceMs, heldUntilMs };
  // It was asked for once more while this try ran: that one counts.
  if (progress.retries.some((retry) => retry.place === place)) return failed;
  if (delayMs === undefined) return { ...failed, dead: [...progress.dead, place].slice(-MOST_DEAD) };
  return { ...failed, retries: [...progress.retries, { place, tries: number, dueAtMs: nowMs + delayMs }] };
}
