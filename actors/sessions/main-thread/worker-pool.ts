/**
 * The session workers under supervision: a lost one is restarted, and a heartbeat ends a hung one.
 *
 * | A worker's state | What it means                          | Leaves on                                             |
 * |------------------|----------------------------------------|-------------------------------------------------------|
 * | starting         | the thread loads its code              | ready → ready, exit → restarting                      |
 * | ready            | takes orders, replies to pings         | exit or a missing answer → restarting                 |
 * | restarting       | waits, longer after each recent loss   | → starting                                            |
 *
 * The wait before a restart is bounded, so a worker comes back soon after the cause is gone. The wait grows with each
 * loss, because each restart logs all sessions of the worker in again. After a minute without any ready worker
 * `onUnreachable` is reported.
 */

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { type ArmedTimer, type Clock, waitAtMost } from '../../../runtime/clock.ts';
import { errorText } from '../../../runtime/described-error.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { SessionReport, WorkerCommand, WorkerMessage, WorkerSetup } from '../worker-protocol.ts';
import { threadExecArgv } from './thread-sources.ts';

/** How workers are watched in production. Times in milliseconds. */
export const DEFAULT_WORKER_SUPERVISION = {
  /** Before a lost worker starts again. It is doubled for each earlier loss within `lossWindowMs`. */
  restartDelayMs: 200,
  /** The longest time before a lost worker starts again. */
  longestRestartDelayMs: 10_000,
  lossWindowMs: 5 * MINUTE_MS,
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
 * The semi-spaces of a worker, in MiB. `npm start` gives the main thread larger ones, which V8 would give each worker
 * too: `resourceLimits` yields to the flag. V8 reads the flag when a thread's heap is made, so the main thread keeps
 * its own.
 */
const WORKER_SEMI_SPACE_MIB = 16;

/**
 * The events that the pool reports to its owner. `worker` is an index in the pool, the same for a worker and its
 * successors.
 */
export interface WorkerPoolEvents {
  onReport(
    report: SessionReport,
    worker: { readonly worker: number; reply(answer: WorkerCommand): void },
  ): void;
  /** The worker at that index has exited with all its sessions. All its reports came before this. */
  onLost(worker: number, detail: string): void;
  /** A worker takes orders from now on. Others may still be `starting`. */
  onReady(): void;
  onUnreachable(): void;
}

/** One worker of the pool, with the thread that runs it at the time. */
interface Member {
  readonly index: number;
  thread: Worker | undefined;
  isReady: boolean;
  /**
   * True from a start while no worker was ready, until this one is ready or lost. Sessions that open meanwhile wait for
   * it, so that all workers get their share.
   */
  beganWithoutReady: boolean;
  /** True if a message came from it since the last ping. */
  hasReported: boolean;
  /** Pings in a row without a message after them. */
  unanswered: number;
  /** The figure that its last heartbeat reported. */
  heapBytes: number;
  /** The reason why the pool ends the worker, or the error that ended it. Undefined if there is none. */
  reason: string | undefined;
  timers: ArmedTimer[];
}

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
  readonly #members: Member[];
  #recentLossesMs: number[] = [];
  /** A worker was ready at some time. */
  #hasBegun = false;
  #lostSoFar = 0;
  #isStopping = false;
  #hasReportedUnreachable = false;
  #unreachableTimer: ArmedTimer | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#members = Array.from({ length: options.count }, (_, index) => ({
      index,
      thread: undefined,
      isReady: false,
      beganWithoutReady: true,
      hasReported: false,
      unanswered: 0,
      heapBytes: 0,
      reason: undefined,
      timers: [],
    }));
    for (const member of this.#members) this.#start(member);
    this.#startUnreachableTimer();
  }

  /**
   * True while the first worker is awaited: none was ready since the start, and the component is not reported
   * unreachable.
   */
  isBooting(): boolean {
    return !this.#hasBegun && !this.#hasReportedUnreachable && this.isStarting();
  }

  /** Workers are on their way: none is ready, or some of those that began together are not. */
  isStarting(): boolean {
    if (this.#isStopping) return false;
    return (
      this.readyWorkers().length === 0 || this.#members.some(({ beganWithoutReady }) => beganWithoutReady)
    );
  }

  /** How many workers were lost since the start. */
  losses(): number {
    return this.#lostSoFar;
  }

  /** Returns the JavaScript heap in use by each ready worker, as reported with its last heartbeat. */
  heapBytes(): Map<number, number> {
    return new Map(
      this.#members.filter(({ isReady }) => isReady).map(({ index, heapBytes }) => [index, heapBytes]),
    );
  }

  /** Returns the indexes of ready workers. */
  readyWorkers(): number[] {
    return this.#members.filter((member) => member.isReady).map((member) => member.index);
  }

  /** Sends a message to the worker at an index. Returns false if none is ready there. */
  post(worker: number, message: WorkerCommand): boolean {
    const member = this.#members[worker];
    if (member?.thread === undefined || !member.isReady) return false;
    member.thread.postMessage(message);
    return true;
  }

  /** Ends all workers; each ready one first closes its sockets, for as long as `stopMs` allows. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#unreachableTimer?.cancel();
    await Promise.all(this.#members.map((member) => this.#retire(member)));
  }

  async #retire(member: Member): Promise<void> {
    const { thread } = member;
    for (const timer of member.timers) timer.cancel();
    if (thread === undefined) return;
    if (member.isReady) {
      const { clock, supervision } = this.#options;
      const exit = new Promise<void>((resolve) => {
        thread.on('message', (message: WorkerMessage) => {
          if (message.kind === 'stopped') resolve();
        });
        thread.once('exit', () => resolve());
      });
      thread.postMessage({ kind: 'stop' } satisfies WorkerCommand);
      await waitAtMost(clock, supervision.stopMs, exit);
    }
    await thread.terminate();
  }

  /** Restarts a lost worker. While no worker is ready, it restarts all lost ones, so that they share the sessions. */
  #restart(lostMember: Member): void {
    const isAnyReady = this.readyWorkers().length > 0;
    const membersToStart = isAnyReady
      ? [lostMember]
      : this.#members.filter(({ thread }) => thread === undefined);
    for (const member of membersToStart) {
      for (const timer of member.timers) timer.cancel();
      member.beganWithoutReady = !isAnyReady;
      this.#startOrReplace(member);
    }
  }

  /** If the system gives no thread, that counts as a loss. */
  #startOrReplace(member: Member): void {
    try {
      this.#start(member);
    } catch (error) {
      this.#replace(member, errorText(error));
    }
  }

  #start(member: Member): void {
    const { clock, entry, setup, supervision } = this.#options;
    const execArgv = threadExecArgv(entry);
    setFlagsFromString(`--max-semi-space-size=${WORKER_SEMI_SPACE_MIB}`);
    const thread = new Worker(entry, {
      workerData: setup,
      resourceLimits: { maxOldGenerationSizeMb: supervision.heapMib },
      ...(execArgv === undefined ? {} : { execArgv }),
    });
    member.thread = thread;
    member.reason = undefined;
    member.unanswered = 0;
    member.heapBytes = 0;
    member.timers = [
      clock.after(supervision.startMs, () => this.#terminate(member, thread, 'it did not start in time')),
    ];
    thread.on('message', (message: WorkerMessage) => this.#onMessage(member, thread, message));
    thread.on('error', (error: Error) => {
      member.reason ??= errorText(error);
    });
    thread.on('exit', (code) => this.#onExit(member, thread, code));
  }

  #onMessage(member: Member, thread: Worker, message: WorkerMessage): void {
    if (member.thread !== thread) return;
    member.hasReported = true;
    if (message.kind === 'pong') member.heapBytes = message.heapBytes;
    if (message.kind === 'pong' || message.kind === 'stopped') return;
    if (message.kind !== 'ready') {
      // The reply goes to the thread that asked: its successor uses the same request numbers.
      const reply = (answer: WorkerCommand): void => {
        if (member.thread === thread) thread.postMessage(answer);
      };
      this.#options.events.onReport(message, { worker: member.index, reply });
      return;
    }
    // Its end was decided before it was ready.
    if (member.reason !== undefined) return;
    for (const timer of member.timers) timer.cancel();
    member.isReady = true;
    member.beganWithoutReady = false;
    this.#hasBegun = true;
    member.timers = [];
    this.#beat(member, thread);
    this.#unreachableTimer?.cancel();
    this.#unreachableTimer = undefined;
    this.#hasReportedUnreachable = false;
    this.#options.events.onReady();
  }

  /**
   * Counts pings and reads no clock: this thread may have stood still itself, with the worker's answer yet to be read.
   */
  #beat(member: Member, thread: Worker): void {
    const { heartbeatMs, heartbeatDeadlineMs } = this.#options.supervision;
    const timer = this.#options.clock.after(heartbeatMs, () => {
      if (member.thread !== thread) return;
      member.unanswered = member.hasReported ? 0 : member.unanswered + 1;
      if (member.unanswered * heartbeatMs >= heartbeatDeadlineMs) {
        this.#terminate(member, thread, 'it hung');
        return;
      }
      member.hasReported = false;
      thread.postMessage({ kind: 'ping' } satisfies WorkerCommand);
      this.#beat(member, thread);
    });
    member.timers = [timer];
  }

  #terminate(member: Member, thread: Worker, reason: string): void {
    if (member.thread !== thread) return;
    member.reason = reason;
    void thread.terminate();
  }

  #onExit(member: Member, thread: Worker, code: number): void {
    if (member.thread !== thread) return;
    for (const timer of member.timers) timer.cancel();
    member.thread = undefined;
    member.isReady = false;
    member.timers = [];
    this.#replace(member, member.reason ?? `it exited with ${code}`);
  }

  #replace(member: Member, detail: string): void {
    if (this.#isStopping) return;
    member.beganWithoutReady = false;
    this.#lostSoFar += 1;
    this.#options.log.error({ worker: member.index, detail }, 'a session worker was lost');
    this.#options.events.onLost(member.index, detail);
    this.#startUnreachableTimer();
    member.timers = [this.#options.clock.after(this.#nextDelayMs(), () => this.#restart(member))];
  }

  /** Counts a loss, and returns the time until the restart. */
  #nextDelayMs(): number {
    const { clock, supervision } = this.#options;
    const nowMs = clock.monotonicMs();
    const earlierLossesMs = this.#recentLossesMs.filter((atMs) => nowMs - atMs < supervision.lossWindowMs);
    // With 20 losses the delay is the longest, so older ones are not kept.
    this.#recentLossesMs = [...earlierLossesMs, nowMs].slice(-20);
    return Math.min(
      supervision.longestRestartDelayMs,
      supervision.restartDelayMs * 2 ** earlierLossesMs.length,
    );
  }

  /** Starts the timer if no worker is ready. A worker that starts and exits meanwhile does not restart it. */
  #startUnreachableTimer(): void {
    if (this.readyWorkers().length > 0 || this.#unreachableTimer !== undefined) return;
    this.#unreachableTimer = this.#options.clock.after(this.#options.supervision.unreachableAfterMs, () => {
      this.#unreachableTimer = undefined;
      if (this.readyWorkers().length > 0 || this.#hasReportedUnreachable || this.#isStopping) return;
      this.#hasReportedUnreachable = true;
      this.#options.log.error({}, 'the sending component is unreachable: no session worker is ready');
      this.#options.events.onUnreachable();
    });
  }
}
