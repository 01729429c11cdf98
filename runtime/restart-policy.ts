import type { RuntimeLimits } from './limits.ts';

/** What follows a crash: another start after a wait, or none until an operator says so. */
export type RestartVerdict = { readonly restartInMs: number } | 'suspend';

/**
 * How often one actor may crash: `restartIntensity` times within `restartWindowMs`, each restart after twice the wait
 * of the one before (0.2 s → 30 s). One more suspends it (DESIGN: Supervision).
 */
export class RestartPolicy {
  readonly #limits: RuntimeLimits;
  #crashedAtMs: number[] = [];

  constructor(limits: RuntimeLimits) {
    this.#limits = limits;
  }

  /** Crashes that still count. */
  get recentCrashes(): number {
    return this.#crashedAtMs.length;
  }

  /** Counts a crash at a monotonic time. */
  crashed(nowMs: number): RestartVerdict {
    const { restartIntensity, restartWindowMs, backoffMs, backoffMaximumMs } = this.#limits;
    this.#crashedAtMs = this.#crashedAtMs.filter((atMs) => nowMs - atMs < restartWindowMs);
    this.#crashedAtMs.push(nowMs);
    const crashes = this.#crashedAtMs.length;
    if (crashes > restartIntensity) return 'suspend';
    return { restartInMs: Math.min(backoffMs * 2 ** (crashes - 1), backoffMaximumMs) };
  }

  forget(): void {
    this.#crashedAtMs = [];
  }
}
