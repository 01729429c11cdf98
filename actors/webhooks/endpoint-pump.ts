import { logBackgroundFailure } from '../../runtime/background-failures.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { StoredEvent } from '../tenants/stored-events/tenant-event.ts';
import type {
  WebhookAttempt,
  WebhookProgress,
  WebhookRecord,
} from '../tenants/stored-webhooks/webhook-record.ts';
import { MOST_FAILING_MS } from './delay-after.ts';
import type { DeliveryResult } from './deliver.ts';
import { type EndedAttempt, EndpointAttempts } from './endpoint-attempts.ts';
import type { EndpointPumpOptions } from './endpoint-pump-options.ts';
import { LoopTimer } from './loop-timer.ts';
import { MOST_WAITING, NextAttempts } from './next-attempts.ts';
import {
  firstProgress,
  forgiveFailures,
  type ReplayedEvent,
  tallyAttempts,
  withReplayed,
} from './progress.ts';

/** Delay between two attempts to read or to store. */
const AGAIN_MS = 1_000;
/** Interval of checks for new events without a notification: a commit with a lost reply sends none. */
const LOOK_MS = 5 * MINUTE_MS;
/** The result for an event with broken data: the schedule ends it, and it delays no other. */
const EVENT_UNREADABLE: DeliveryResult = { status: null, error: 'the event could not be read', holdMs: null };

/** A replay that is not stored yet. */
interface Replay {
  readonly events: readonly ReplayedEvent[];
  readonly resolve: (isTaken: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends one endpoint its events. An event is among the retries of the progress from when it is read until it has ended.
 * One loop does all: it stores results and replays, and begins the due attempts. The result of an attempt is stored
 * before another attempt takes its slot. A kill therefore repeats at most the attempts under way, under the same ids.
 *
 * | State    | The loop                                    | Leaves on                                              |
 * |----------|---------------------------------------------|--------------------------------------------------------|
 * | sending  | stores results and replays, begins attempts | a hold → held, `settle` → settling                     |
 * | held     | stores results and replays                  | its time, enabled or moved → sending, `settle` → settling |
 * | settling | stores results and earlier replays          | all are stored → over, enabled → sending               |
 * | over     | does nothing                                | enabled → sending                                      |
 *
 * `stop`, and a store that refuses the progress, end it in each state, and then nothing starts it again.
 *
 * `EndpointAttempts` has the attempts under way, with their addresses. `NextAttempts` chooses the events.
 */
export class EndpointPump {
  readonly #options: EndpointPumpOptions;
  readonly #attempts: EndpointAttempts;
  readonly #next: NextAttempts;
  readonly #timer: LoopTimer;
  readonly #replays: Replay[] = [];
  #webhook: WebhookRecord;
  /** The last progress of the loop: the stored part, and the events read since. */
  #progress: WebhookProgress | undefined;
  #isStopped = false;
  #isSettling = false;
  #isRunning = false;
  /** Resolves when the loop has ended. */
  #running: Promise<void> = Promise.resolve();

  constructor(webhook: WebhookRecord, options: EndpointPumpOptions) {
    this.#webhook = webhook;
    this.#options = options;
    this.#attempts = new EndpointAttempts(webhook, options, {
      mayBegin: () => this.#goesOn,
      onChanged: () => this.#timer.wake(),
    });
    this.#next = new NextAttempts(options, this.#attempts, () => this.#webhook);
    this.#timer = new LoopTimer(options.clock);
  }

  /** True if attempts may begin. */
  get #goesOn(): boolean {
    return !this.#isStopped && !this.#isSettling;
  }

  /** True if the loop is stopped, or has settled. */
  get #isOver(): boolean {
    return this.#isStopped || (this.#isSettling && this.#attempts.areOver && this.#replays.length === 0);
  }

  /** The number of events that wait for a retry. */
  get waiting(): number {
    return this.#attempts.retriesAtRest(this.#progress?.retries ?? []).length;
  }

  /** True if attempts under way may end, and none begin. */
  get isSettling(): boolean {
    return this.#isSettling;
  }

  /**
   * Takes a changed record. It applies from the next event on, and its address from the next attempt on. A loop that
   * settles, or has settled, continues unless the endpoint is disabled.
   */
  update(webhook: WebhookRecord): void {
    this.#webhook = webhook;
    this.#attempts.update(webhook);
    if (this.#isSettling && webhook.disabled === null) {
      this.#isSettling = false;
      if (!this.#isRunning) void this.run();
    }
    this.wake();
  }

  /** Makes the loop check for new events. */
  wake(): void {
    this.#next.expectNew();
    this.#timer.wake();
  }

  /**
   * Sends these events once more, after any result. Resolves with true once that is stored. Resolves with false, and
   * changes nothing, if more than `MOST_WAITING` events would wait.
   */
  async replay(events: readonly ReplayedEvent[]): Promise<boolean> {
    if (!this.#goesOn) throw leftFailure();
    return new Promise((resolve, reject) => {
      this.#replays.push({ events, resolve, reject });
      this.#timer.wake();
    });
  }

  /** Ends the loop; the result of an attempt under way is not recorded. */
  stop(): void {
    this.#isStopped = true;
    this.#timer.wake();
  }

  /**
   * Begins no more attempts. Resolves once the results of those under way, and replays, are stored or could not be.
   * Never rejects.
   */
  settle(): Promise<void> {
    this.#isSettling = true;
    this.#timer.wake();
    return this.#running;
  }

  /** Runs until it is stopped or settled. Never rejects. */
  run(): Promise<void> {
    this.#isRunning = true;
    this.#running = this.#loop();
    return this.#running;
  }

  async #loop(): Promise<void> {
    while (!this.#isOver) {
      this.#timer.beginCheck();
      try {
        await this.#step();
      } catch (error) {
        this.#failed(error);
        this.#timer.beginCheck();
        if (this.#goesOn) await this.#timer.sleep(AGAIN_MS);
      }
    }
    for (const { reject } of this.#replays.splice(0)) reject(leftFailure());
    this.#isRunning = false;
  }

  #failed(error: unknown): void {
    if (this.#isStopped) return;
    const { id: webhookId } = this.#webhook;
    const line = 'the delivery to a webhook stopped; it is tried again';
    logBackgroundFailure(this.#options.log, error, { webhookId }, line);
  }

  async #step(): Promise<void> {
    const endedAttempts = this.#attempts.takeEnded();
    await this.#record(endedAttempts);
    if (this.#isStopped) return;
    await this.#disableIfOver(endedAttempts);
    if (!this.#goesOn) return this.#isOver ? undefined : this.#timer.sleep(LOOK_MS);
    const progressBefore = await this.#current();
    const nowMs = this.#options.clock.wallMs();
    const heldMs = (progressBefore.heldUntilMs ?? 0) - nowMs;
    if (heldMs > 0) return this.#timer.sleep(heldMs);
    const { attempts, progress } = await this.#next.choose(progressBefore, nowMs);
    if (progress === progressBefore) return this.#idle(progressBefore, nowMs);
    // All bodies are read before the first is sent. Otherwise the first would be sent once a second while a read fails.
    const bodies = await Promise.all(attempts.map(({ event }) => this.#body(event)));
    if (!this.#goesOn) return;
    const { missedUntilMs } = progress;
    const isMissed = missedUntilMs !== undefined && missedUntilMs !== progressBefore.missedUntilMs;
    // Attempts that begin are stored with the first that ends: without them the stored cursor is before their events.
    if (attempts.length > 0 && !isMissed) this.#progress = progress;
    else if (!(await this.#store(progress, []))) return;
    if (isMissed) this.#options.onMissed(this.#webhook.id, missedUntilMs);
    if (!this.#goesOn) return;
    for (const [index, attempt] of attempts.entries()) this.#attempts.begin(attempt, bodies[index]);
  }

  async #current(): Promise<WebhookProgress> {
    if (this.#progress === undefined) {
      const storedProgress = await this.#options.progress(this.#webhook.id);
      this.#progress = storedProgress ?? firstProgress(this.#webhook);
      if (forgiveFailures(this.#progress, this.#webhook).failingSinceMs !== null) this.#attempts.expectSlow();
    }
    this.#progress = forgiveFailures(this.#progress, this.#webhook);
    return this.#progress;
  }

  /** Stores the results of these attempts, and the replays. If storing fails, these events are sent once more. */
  async #record(endedAttempts: readonly EndedAttempt[]): Promise<void> {
    const replays = this.#replays.splice(0);
    if (endedAttempts.length + replays.length === 0) return;
    try {
      const progressBefore = await this.#current();
      const nowMs = this.#options.clock.wallMs();
      const { progress: after, attempts } = tallyAttempts(
        progressBefore,
        endedAttempts,
        this.#options.random,
      );
      let progress = after;
      const areTaken = replays.map(({ events }) => {
        const progressWithReplay = withReplayed(progress, events, nowMs);
        if (progressWithReplay.retries.length > MOST_WAITING) return false;
        progress = progressWithReplay;
        return true;
      });
      const isStored = progress === progressBefore || (await this.#store(progress, attempts));
      for (const [index, { resolve, reject }] of replays.entries()) {
        if (isStored) resolve(areTaken[index] === true);
        else reject(leftFailure());
      }
    } catch (error) {
      for (const { reject } of replays) reject(error);
      throw error;
    }
  }

  /** Returns false, and stops, if another loop, here or elsewhere, may have continued from the stored progress. */
  async #store(progress: WebhookProgress, attempts: readonly WebhookAttempt[]): Promise<boolean> {
    if (this.#isStopped || !(await this.#options.store(this.#webhook.id, progress, attempts))) {
      this.#isStopped = true;
      return false;
    }
    this.#progress = progress;
    return true;
  }

  /** Disables an endpoint that answered 410, or that failed for too long. */
  async #disableIfOver(endedAttempts: readonly EndedAttempt[]): Promise<void> {
    if (endedAttempts.length === 0) return;
    // Later changes of the endpoint were not judged.
    const judgedWebhook = this.#webhook;
    // A 410 from a former address, or from before the endpoint was enabled, does not apply to the present one.
    const isGone = endedAttempts.some(
      ({ result, address, atMs }) =>
        result?.status === 410 && !address.isFormer && atMs >= judgedWebhook.enabledAtMs,
    );
    const { failingSinceMs } = await this.#current();
    const nowMs = this.#options.clock.wallMs();
    const isFailing = nowMs - (failingSinceMs ?? nowMs) >= MOST_FAILING_MS;
    if (isGone || isFailing) await this.#options.disable(judgedWebhook, isGone ? 'gone' : 'failing');
  }

  async #body(event: StoredEvent): Promise<string | DeliveryResult | undefined> {
    try {
      return await this.#options.body(event);
    } catch (error) {
      if (error instanceof RuntimeFailure) throw error;
      const { id: webhookId } = this.#webhook;
      const fields = { webhookId, place: event.streamId };
      logBackgroundFailure(this.#options.log, error, fields, 'an event cannot be read');
      return EVENT_UNREADABLE;
    }
  }

  /** Sleeps until the next retry or the next check for new events is due. The end of an attempt ends the sleep. */
  async #idle({ retries }: WebhookProgress, nowMs: number): Promise<void> {
    const restingRetries = this.#attempts.roomAgain > 0 ? this.#attempts.retriesAtRest(retries) : [];
    const lookAtMs = nowMs + LOOK_MS;
    const dueAtMs = Math.min(lookAtMs, ...restingRetries.map((retry) => retry.dueAtMs));
    await this.#timer.sleep(Math.max(0, dueAtMs - nowMs));
    if (dueAtMs === lookAtMs) this.#next.expectNew();
  }
}

function leftFailure(): RuntimeFailure {
  return new RuntimeFailure('SHARD_NOT_OWNED', 'this node no longer sends events to the webhook');
}
