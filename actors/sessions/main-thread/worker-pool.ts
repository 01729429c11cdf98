/**
 * The session workers under supervision: each lost one is restarted alone, and a heartbeat ends a hung one.
 *
 * | A worker's state | What it means                          | Leaves on                                             |
 * |------------------|----------------------------------------|-------------------------------------------------------|
 * | starting         | the thread loads its code              | ready → ready, exit → restarting                      |
 * | ready            | takes orders, replies to pings         | exit or a missing answer → restarting                 |
 * | restarting       | waits, longer after each recent loss   | → starting                                            |
 *
 * The wait is bounded, so a worker comes back soon after the cause is gone. It grows, so that a worker that always ends
 * does not log its sessions in without a pause. After a minute without any ready worker `unreachable` is reported. The
 * first ready worker after that reports `reachable`.
 */

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type ArmedTimer, type Clock, within } from '../../../runtime/clock.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { FromWorker, SessionReport, ToWorker, WorkerSetup } from '../worker-protocol.ts';
import { threadExecArgv } from './thread-sources.ts';

/** How workers are watched in production. Times in milliseconds. */
export const DEFAULT_WORKER_SUPERVISION = {
  /** Before a lost worker starts again. It is doubled for each earlier loss within `lossWindowMs`. */
  restartDelayMs: 200,
  /** The longest time before a lost worker starts again. */
  longestRestartDelayMs: 10_000,
  lossWindowMs: 300_000,
  /** Without any ready worker for this long, the component counts as unreachable. */
  unreachableAfterMs: MINUTE_MS,
  /** Between two pings. */
  heartbeatMs: 5_000,
  /** Without an answer for this long, counted in pings, a worker is hung and ended. */
  heartbeatDeadlineMs: 20_000,
  /** How long a worker may take to be ready, in milliseconds. */
  startMs: MINUTE_MS,
  /** How long a worker may take to end its sockets after the order to stop, in milliseconds. */
  stopMs: 3_000,
  /**
   * A worker's heap, in MiB; more ends it. With 500 sessions 112 were in use (`npm run bench -- sessions`); the rest is
   * for garbage that V8 collects late.
   */
  heapMib: 2_048,
};

/** How workers are watched. */
export type WorkerSupervision = Readonly<typeof DEFAULT_WORKER_SUPERVISION>;

/**
 * The semi-spaces of a worker, in MiB. `npm start` gives the main thread larger ones, which V8 would give each worker too:
 * `resourceLimits` yields to the flag. V8 reads the flag when a thread's heap is made, so the main thread keeps its own.
 */
const WORKER_SEMI_SPACE_MIB = 16;

/**
 * The events that the pool reports to its owner. `worker` is an index in the pool, the same for a worker and its
 * successors.
 */
export interface WorkerPoolEvents {
  message(message: SessionReport, from: { readonly worker: number; reply(answer: ToWorker): void }): void;
  /** The worker at that index has exited with all its sessions. All its reports came before this. */
  lost(worker: number, detail: string): void;
  /** A worker takes orders from now on. Others may still be `starting`. */
  ready(): void;
  unreachable(): void;
  reachable(): void;
}

interface Slot {
  readonly index: number;
  thread: Worker | undefined;
  isReady: boolean;
  /** It began while no worker was ready. Sessions that open now wait for it, so that all workers get their share. */
  isFirst: boolean;
  /** True if a message came from it since the last ping. */
  hasReported: boolean;
  /** Pings in a row without a message after them. */
  unanswered: number;
  /** The figure that its last heartbeat reported. */
  heapBytes: number;
  /** Why we ended it ourselves. */
  reason: string | undefined;
  timers: ArmedTimer[];
}

/** The settings and callbacks of a pool. */
interface WorkerPoolOptions {
  readonly entry: URL;
  readonly count: number;
  readonly setup: WorkerSetup;
  readonly supervision: WorkerSupervision;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: WorkerPoolEvents;
}

/** A fixed number of worker threads, each replaced when it is lost. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: Slot[];
  #recentLossesMs: number[] = [];
  /** A worker was ready at some time. */
  #hasBegun = false;
  #lostSoFar = 0;
  #isStopping = false;
  #hasReportedUnreachable = false;
  #unreachableTimer: ArmedTimer | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      thread: undefined,
      isReady: false,
      isFirst: true,
      hasReported: false,
      unanswered: 0,
      heapBytes: 0,
      reason: undefined,
      timers: [],
    }));
    for (const slot of this.#slots) this.#start(slot);
    this.#startUnreachableTimer();
  }

  /** True if no worker was ready yet since the start. */
  isBooting(): boolean {
    return !this.#hasBegun && !this.#hasReportedUnreachable && this.isStarting();
  }

  /** Workers are on their way: none is ready, or some of those that began together are not. */
  isStarting(): boolean {
    if (this.#isStopping) return false;
    return this.readyWorkers().length === 0 || this.#slots.some(({ isFirst }) => isFirst);
  }

  /** How many workers were lost since the start. */
  losses(): number {
    return this.#lostSoFar;
  }

  /** Returns the JavaScript heap in use by each ready worker, as reported with its last heartbeat. */
  heapBytes(): Map<number, number> {
    return new Map(
      this.#slots.filter(({ isReady }) => isReady).map(({ index, heapBytes }) => [index, heapBytes]),
    );
  }

  /** Returns the indexes of ready workers. */
  readyWorkers(): number[] {
    return this.#slots.filter((slot) => slot.isReady).map((slot) => slot.index);
  }

  /** Sends a message to the worker at an index. Returns false if none is ready there. */
  post(worker: number, message: ToWorker): boolean {
    const slot = this.#slots[worker];
    if (slot?.thread === undefined || !slot.isReady) return false;
    slot.thread.postMessage(message);
    return true;
  }

  /** Ends all workers; each first closes its sockets, for as long as `stopMs` allows. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#unreachableTimer?.cancel();
    await Promise.all(this.#slots.map((slot) => this.#retire(slot)));
  }

  async #retire(slot: Slot): Promise<void> {
    const { thread } = slot;
    for (const timer of slot.timers) timer.cancel();
    if (thread === undefined) return;
    if (slot.isReady) {
      const { clock, supervision } = this.#options;
      const stopped = new Promise<void>((resolve) => {
        thread.on('message', (message: FromWorker) => {
          if (message.kind === 'stopped') resolve();
        });
        thread.once('exit', () => resolve());
      });
      thread.postMessage({ kind: 'stop' } satisfies ToWorker);
      await within(clock, supervision.stopMs, stopped);
    }
    await thread.terminate();
  }

  /** Restarts a worker. While none is ready, all that wait restart with it, so that they share the sessions. */
  #restart(lost: Slot): void {
    const isAnyReady = this.readyWorkers().length > 0;
    const waiting = isAnyReady ? [lost] : this.#slots.filter(({ thread }) => thread === undefined);
    for (const slot of waiting) {
      for (const timer of slot.timers) timer.cancel();
      slot.isFirst = !isAnyReady;
      this.#startOrReplace(slot);
    }
  }

  /** If the system gives no thread, that counts as a loss. */
  #startOrReplace(slot: Slot): void {
    try {
      this.#start(slot);
    } catch (error) {
      this.#replace(slot, error instanceof Error ? error.message : String(error));
    }
  }

  #start(slot: Slot): void {
    const { clock, entry, setup, supervision } = this.#options;
    const execArgv = threadExecArgv(entry);
    setFlagsFromString(`--max-semi-space-size=${WORKER_SEMI_SPACE_MIB}`);
    const thread = new Worker(entry, {
      workerData: setup,
      resourceLimits: { maxOldGenerationSizeMb: supervision.heapMib },
      ...(execArgv === undefined ? {} : { execArgv }),
    });
    slot.thread = thread;
    slot.reason = undefined;
    slot.unanswered = 0;
    slot.heapBytes = 0;
    slot.timers = [
      clock.after(supervision.startMs, () => this.#terminate(slot, thread, 'it did not start in time')),
    ];
    thread.on('message', (message: FromWorker) => this.#onMessage(slot, thread, message));
    thread.on('error', (error: Error) => {
      slot.reason ??= error.message;
    });
    thread.on('exit', (code) => this.#onExit(slot, thread, code));
  }

  #onMessage(slot: Slot, thread: Worker, message: FromWorker): void {
    if (slot.thread !== thread) return;
    slot.hasReported = true;
    if (message.kind === 'pong') slot.heapBytes = message.heapBytes;
    if (message.kind === 'pong' || message.kind === 'stopped') return;
    if (message.kind !== 'ready') {
      // The reply goes to the thread that asked: its successor uses the same request numbers.
      const reply = (answer: ToWorker): void => {
        if (slot.thread === thread) thread.postMessage(answer);
      };
      this.#options.events.message(message, { worker: slot.index, reply });
      return;
    }
    // Its end was decided before it was ready.
    if (slot.reason !== undefined) return;
    for (const timer of slot.timers) timer.cancel();
    slot.isReady = true;
    slot.isFirst = false;
    this.#hasBegun = true;
    slot.timers = [];
    this.#beat(slot, thread);
    this.#unreachableTimer?.cancel();
    this.#unreachableTimer = undefined;
    this.#options.events.ready();
    if (!this.#hasReportedUnreachable) return;
    this.#hasReportedUnreachable = false;
    this.#options.events.reachable();
  }

  /** Counts pings and reads no clock: this thread may have stood still itself, with the worker's answer yet to be read. */
  #beat(slot: Slot, thread: Worker): void {
    const { heartbeatMs, heartbeatDeadlineMs } = this.#options.supervision;
    const timer = this.#options.clock.after(heartbeatMs, () => {
      if (slot.thread !== thread) return;
      slot.unanswered = slot.hasReported ? 0 : slot.unanswered + 1;
      if (slot.unanswered * heartbeatMs >= heartbeatDeadlineMs) {
        this.#terminate(slot, thread, 'it hung');
        return;
      }
      slot.hasReported = false;
      thread.postMessage({ kind: 'ping' } satisfies ToWorker);
      this.#beat(slot, thread);
    });
    slot.timers = [timer];
  }

  #terminate(slot: Slot, thread: Worker, reason: string): void {
    if (slot.thread !== thread) return;
    slot.reason = reason;
    void thread.terminate();
  }

  #onExit(slot: Slot, thread: Worker, code: number): void {
    if (slot.thread !== thread) return;
    for (const timer of slot.timers) timer.cancel();
    slot.thread = undefined;
    slot.isReady = false;
    slot.timers = [];
    this.#replace(slot, slot.reason ?? `it exited with ${code}`);
  }

  #replace(slot: Slot, detail: string): void {
    if (this.#isStopping) return;
    slot.isFirst = false;
    this.#lostSoFar += 1;
    this.#options.log.error({ worker: slot.index, detail }, 'a session worker was lost');
    this.#options.events.lost(slot.index, detail);
    this.#startUnreachableTimer();
    slot.timers = [this.#options.clock.after(this.#nextDelayMs(), () => this.#restart(slot))];
  }

  /** Counts a loss, and returns the time until the restart. */
  #nextDelayMs(): number {
    const { clock, supervision } = this.#options;
    const nowMs = clock.monotonicMs();
    const earlier = this.#recentLossesMs.filter((atMs) => nowMs - atMs < supervision.lossWindowMs);
    // More losses than that change nothing.
    this.#recentLossesMs = [...earlier, nowMs].slice(-20);
    return Math.min(supervision.longestRestartDelayMs, supervision.restartDelayMs * 2 ** earlier.length);
  }

  /** Starts if no worker is ready. It counts from the end of the last one: others may start and exit meanwhile. */
  #startUnreachableTimer(): void {
    if (this.readyWorkers().length > 0 || this.#unreachableTimer !== undefined) return;
    this.#unreachableTimer = this.#options.clock.after(this.#options.supervision.unreachableAfterMs, () => {
      this.#unreachableTimer = undefined;
      if (this.readyWorkers().length > 0 || this.#hasReportedUnreachable || this.#isStopping) return;
      this.#hasReportedUnreachable = true;
      this.#options.log.error({}, 'the sending component is unreachable: no session worker is ready');
      this.#options.events.unreachable();
    });
  }
}
