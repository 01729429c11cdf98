import type { Clock } from '../clock.ts';
import { errorText } from '../described-error.ts';
import type { RuntimeLimits } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { RuntimeCounters } from '../observer.ts';

/** The decision after a crash: another start after a delay, or none until an operator resumes the actor. */
export type RestartDecision = { readonly restartInMs: number } | 'suspend';

export interface SupervisionOptions {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly log: Logger;
  readonly counters: RuntimeCounters;
}

const NEVER: readonly number[] = [];

/**
 * Counts the crashes of one actor. Up to `restartIntensity` crashes within `restartWindowMs` lead to a restart, each
 * after twice the previous delay (0.2 s to 3.2 s). One more suspends the actor (runtime/README.md, Promises).
 */
export class Supervision {
  readonly #name: string;
  readonly #options: SupervisionOptions;
  #crashedAtMs: readonly number[] = NEVER;
  #lastError: { readonly atMs: number; readonly message: string } | undefined;

  constructor(name: string, options: SupervisionOptions) {
    this.#name = name;
    this.#options = options;
  }

  /** The number of crashes that counted when the last crash was counted. */
  get recentCrashes(): number {
    return this.#crashedAtMs.length;
  }

  get lastError(): { readonly atMs: number; readonly message: string } | undefined {
    return this.#lastError;
  }

  /** Notes the error; the restart that follows is counted by `decide`. */
  note(error: unknown): void {
    const { clock, counters, log } = this.#options;
    counters.crashes += 1;
    this.#lastError = { atMs: clock.wallMs(), message: errorText(error) };
    log.error({ actor: this.#name, err: error }, 'an actor crashed');
  }

  /** Counts a crash and returns the action that follows. */
  decide(): RestartDecision {
    const { clock, counters, limits, log } = this.#options;
    const nowMs = clock.monotonicMs();
    const recentCrashesMs = this.#crashedAtMs.filter((atMs) => nowMs - atMs < limits.restartWindowMs);
    this.#crashedAtMs = [...recentCrashesMs, nowMs];
    const crashes = this.#crashedAtMs.length;
    if (crashes <= limits.restartIntensity) {
      counters.restarts += 1;
      return { restartInMs: limits.backoffMs * 2 ** (crashes - 1) };
    }
    counters.suspensions += 1;
    log.error({ actor: this.#name }, 'an actor crashed too often and waits for an operator');
    return 'suspend';
  }

  forget(): void {
    this.#crashedAtMs = NEVER;
  }
}
