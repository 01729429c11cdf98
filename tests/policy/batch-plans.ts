import type { BatchPlan, ForecastFacts, ForecastRun } from '../../policy/batch-forecast.ts';
import { NO_LIMITS } from '../../policy/network-limits.ts';
import { SendLedger } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { DAY_MS } from '../../runtime/durations.ts';

/** The moment at which a forecast begins. */
export const NOW_MS = Date.parse('2026-03-20T10:00:00Z');

/** A batch without recipients, with what a test cares for put over it. */
export function plan(more: Partial<BatchPlan> = {}): BatchPlan {
  return {
    wrote: 0,
    unheard: 0,
    declared: 0,
    sameContent: undefined,
    share: 0.7,
    quietHours: null,
    notBeforeMs: NOW_MS,
    notAfterMs: NOW_MS + 90 * DAY_MS,
    ...more,
  };
}

/** A number that was paired at `NOW_MS` and has sent nothing, with what a test cares for put over it. */
export function facts(more: Partial<ForecastFacts> = {}): ForecastFacts {
  return {
    ledger: new SendLedger(),
    network: NO_LIMITS,
    pairedAtMs: NOW_MS,
    settings: resolveSettings({}),
    eachMs: 16_500,
    nowMs: NOW_MS,
    ...more,
  };
}

/** Runs a forecast to its end. Returns the number of steps. */
export function stepsOf(run: ForecastRun): number {
  let steps = 1;
  while (run.step()) steps += 1;
  return steps;
}
