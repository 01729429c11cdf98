import type { ArmedTimer } from '../../runtime/clock.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { isBefore } from '../tenants/event-cursor.ts';
import type { WebhookProgress, WebhookRecord } from '../tenants/webhook-record.ts';
import type { EndpointPumpOptions } from './endpoint-pump-options.ts';
import { EndpointTries, MOST_RETRIES } from './endpoint-tries.ts';
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
import type { Ended, LateTry } from './tries.ts';

/** Events that wait to be tried again with those that were asked for once more: a replay that would make them more is refused. */
export const MOST_WAITING = 2 * MOST_RETRIES;
/** Time between two tries to read or to store. */
const AGAIN_MS = 1_000;
/** How often the pump looks for new events by itself: nobody tells of a commit whose reply was lost. */
const LOOK_MS = 5 * 60_000;

/**
 * Sends one endpoint its events: new ones from a cursor on, and those that failed as they fall due. What came of a few
 * is stored before the next few go out, so a kill repeats those at most, under the same ids.
 */
export class EndpointPump {
  readonly #options: EndpointPumpOptions;
  readonly #tries: EndpointTries;
  #webhook: WebhookRecord;
  #progress: WebhookProgress | undefined;
  #isStopped = false;
  #isEnding = false;
  /** Until the pump runs no more. */
  #running: Promise<void> = Promise.resolve();
  /** The last change of the progress: each starts from what the one before stored. */
  #stored: Promise<unknown> = Promise.resolve();
  #sleeping: { readonly timer: ArmedTimer; readonly wake: () => void } | undefined;

  constructor(webhook: WebhookRecord, options: EndpointPumpOptions) {
    this.#webhook = webhook;
    this.#options = options;
    this.#tries = new EndpointTries(webhook, options, () => this.#goesOn);
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

  /**
   * Takes a changed record, which counts from the next event on, and its address from the next try on. A pump that settles,
   * or has settled, goes on unless the endpoint is disabled.
   */
  update(webhook: WebhookRecord): void {
    this.#webhook = webhook;
    this.#tries.update(webhook);
    if (this.#isEnding && webhook.disabled === null) {
      this.#isEnding = false;
      this.#running = this.#running.then(() => this.#goOn());
    }
    this.wake();
  }

  /** Has the pump look for new events. */
  wake(): void {
    this.#tries.tellNews();
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

  /** Begins no try any more; resolves once the outcomes of those under way, and replays, are stored. Never rejects. */
  async settle(): Promise<void> {
    this.#isEnding = true;
    this.wake();
    // One that went on meanwhile, and settles once more, has tries of its own.
    for (let settled: Promise<void> | undefined; settled !== this.#running; ) {
      settled = this.#running;
      await settled;
      await this.#tries.allStored();
      // Replays that were taken before may be on their way to the store; the next pump is to begin with them.
      await this.#stored;
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
    const next = await this.#tries.next(progress, nowMs);
    const { tries, dropped, cursor } = next;
    if (tries.length + dropped.length === 0 && cursor === progress.cursor) return this.#idle(nowMs);
    const sent = await this.#tries.send(tries);
    if (sent === undefined || this.#isStopped) return;
    const { ended, late } = sent;
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

  /** Stores what comes of a late try. Where it cannot be stored, the event is sent once more. */
  #keepLate(late: LateTry): void {
    const store = (ended: Ended): Promise<void> =>
      this.#record([ended]).catch((error: unknown) => this.#failed(error));
    void this.#tries.keep(late, store).then(() => this.#goOnNow());
  }

  async #current(): Promise<WebhookProgress> {
    if (this.#progress === undefined) {
      const stored = await this.#options.progress(this.#webhook.id);
      this.#progress ??= stored ?? firstProgress(this.#webhook);
      if (forgiven(this.#progress, this.#webhook).failingSinceMs !== null) this.#tries.expectSlow();
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

  /** Stores what came of these tries, and how far the endpoint is looked through with them; `undefined` of a late one. */
  async #record(ended: readonly Ended[], looked?: Looked): Promise<void> {
    const { clock, random } = this.#options;
    const nowMs = clock.wallMs();
    await this.#change((before) => settled(before, ended, looked, random));
    const missedUntilMs = looked?.missedUntilMs;
    if (missedUntilMs !== undefined) this.#options.missed(this.#webhook.id, missedUntilMs);
    // Whatever changes from here on was not judged.
    const judged = this.#webhook;
    // A 410 of a former address, or from before it was enabled, says nothing of the present one.
    const isGone = ended.some(
      ({ delivered, address, atMs }) =>
        delivered?.status === 410 && !address.isFormer && atMs >= judged.enabledAtMs,
    );
    const { failingSinceMs } = await this.#current();
    const isFailing = nowMs - (failingSinceMs ?? nowMs) >= MOST_FAILING_MS;
    if (isGone || isFailing) await this.#options.disable(judged, isGone ? 'gone' : 'failing');
  }

  /** Until the next one is due, or there are new events and room for them. */
  async #idle(nowMs: number): Promise<void> {
    // As it stands at this very moment: what ends from here on finds the pump asleep, and wakes it.
    const { retries } = this.#progress ?? { retries: [] };
    if (this.#tries.mayRead(retries)) return;
    const lookAtMs = nowMs + LOOK_MS;
    const dueAtMs = Math.min(lookAtMs, this.#tries.dueAtMs(retries));
    await this.#sleep(Math.max(0, dueAtMs - nowMs));
    if (dueAtMs === lookAtMs) this.#tries.tellNews();
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
