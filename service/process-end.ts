import type { ArmedTimer, Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

/** A stop that hangs must not keep the process: its caller waits 10 s. */
const MOST_STOP_MS = 9_500;

/** A service that runs. */
export interface StoppableService {
  /** Makes `/readyz` answer 503. */
  withdraw(): void;
  /** Resolves once all parts have stopped. Rejects if one of them could not. */
  stop(): Promise<void>;
}

export interface ProcessEndOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
  /** The time from a signal to the stop. */
  readonly shutdownDelayMs: number;
  readonly reportFailure: (error: unknown) => void;
  /** Ends the process at once. */
  readonly exit: (exitCode: number) => never;
}

type State =
  | { readonly kind: 'starting' | 'ending' }
  | { readonly kind: 'running'; readonly service: StoppableService }
  | { readonly kind: 'withdrawn'; readonly service: StoppableService; readonly delay: ArmedTimer };

/**
 * Ends the process of a service: after a signal with 0, after a failed start or a loss with 1. It is lost if another
 * process runs under its node id.
 *
 * | State     | The process                  | Leaves on                                                       |
 * |-----------|------------------------------|-----------------------------------------------------------------|
 * | starting  | starts the service           | the service runs → running; signal or failure → ending; loss → exit |
 * | running   | serves                       | signal → withdrawn, or without a delay → ending; loss → ending  |
 * | withdrawn | serves, but is not ready     | end of the delay, another signal or loss → ending               |
 * | ending    | stops the parts that started | all have stopped, or `MOST_STOP_MS` have passed → exit          |
 *
 * A signal in `starting` aborts the start, which then stops its parts. If the start fails for another reason, the exit
 * code is 1 all the same. A stop that fails, or takes longer than `MOST_STOP_MS`, also ends the process with 1.
 */
export class ProcessEnd {
  readonly #options: ProcessEndOptions;
  readonly #start = new AbortController();
  #state: State = { kind: 'starting' };

  constructor(options: ProcessEndOptions) {
    this.#options = options;
  }

  /** Aborted when a signal ends the start. */
  get startSignal(): AbortSignal {
    return this.#start.signal;
  }

  /** Call it when the service runs. */
  onStarted(service: StoppableService): void {
    this.#state = { kind: 'running', service };
  }

  /** Call it when the start has failed, before its parts are stopped. Meanwhile no signal ends the process with 0. */
  onStartFailed(error: unknown): void {
    if (this.#isAbort(error)) return;
    this.#options.reportFailure(error);
    this.#beginEnd();
  }

  /** Call it with the error of the start, once its parts are stopped. */
  exitAfterStart(error: unknown): never {
    return this.#options.exit(this.#isAbort(error) ? 0 : 1);
  }

  /** Call it when a signal asks the process to end. */
  onSignal(): void {
    switch (this.#state.kind) {
      case 'starting':
        this.#beginEnd();
        this.#start.abort();
        return;
      case 'running':
        if (this.#options.shutdownDelayMs === 0) this.#end(this.#state.service, 0);
        else this.#withdraw(this.#state.service);
        return;
      case 'withdrawn':
        // A second signal means that the load balancers had enough time.
        this.#end(this.#state.service, 0);
        return;
      case 'ending':
    }
  }

  /** Call it when another process runs under this node's id. */
  onLost(): void {
    switch (this.#state.kind) {
      case 'starting':
        // There is no service yet that could be stopped.
        this.#options.exit(1);
        return;
      case 'running':
      case 'withdrawn':
        this.#end(this.#state.service, 1);
        return;
      case 'ending':
    }
  }

  /** Load balancers poll /readyz every few seconds, and send callers here until they have seen its 503. */
  #withdraw(service: StoppableService): void {
    const { clock, log, shutdownDelayMs } = this.#options;
    service.withdraw();
    log.info({ shutdownDelayMs }, 'a signal asked the service to stop: it is not ready from now on');
    const delay = clock.after(shutdownDelayMs, () => this.#end(service, 0));
    this.#state = { kind: 'withdrawn', service, delay };
  }

  #end(service: StoppableService, exitCode: number): void {
    this.#beginEnd();
    const { log, exit } = this.#options;
    service.stop().then(
      () => exit(exitCode),
      (error: unknown) => {
        log.error({ err: error }, 'the stop was not clean');
        exit(1);
      },
    );
  }

  #beginEnd(): void {
    if (this.#state.kind === 'withdrawn') this.#state.delay.cancel();
    this.#state = { kind: 'ending' };
    this.#options.clock.after(MOST_STOP_MS, () => this.#options.exit(1));
  }

  /** True if this error says that a signal ended the start. */
  #isAbort(error: unknown): boolean {
    const { aborted, reason } = this.#start.signal;
    return aborted && error === reason;
  }
}
