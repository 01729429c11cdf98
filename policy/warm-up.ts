import { DAY_MS } from '../runtime/durations.ts';
import type { TenantSettings } from './tenant-settings.ts';

/** The warm-up's steps: from which day on how many 1:1 messages a day (docs/contract.md, Messages to numbers). */
export const WARMUP_STEPS = [
  { fromDay: 0, perDay: 20 },
  { fromDay: 3, perDay: 50 },
  { fromDay: 7, perDay: 100 },
  { fromDay: 14, perDay: 250 },
] as const;

/** The daily cap that no shop ever exceeds. */
export const DAILY_ROOF = WARMUP_STEPS[3].perDay;

/** The caps of 1:1 messages in force at a moment. */
export interface MessageCaps {
  readonly perDay: number;
  readonly perHour: number;
  readonly coldPerDay: number;
  readonly declaredPerDay: number;
}

/** The pairing time and the present time, in Unix milliseconds. They determine the warm-up's day. */
interface WarmupMoment {
  /** Pairing of the current credentials; `null`, never paired, counts as day 0 without end. */
  readonly pairedAtMs: number | null;
  readonly nowMs: number;
}

/** Whole days since the pairing of the current credentials; never negative. */
export function warmupDay(moment: WarmupMoment): number {
  const { pairedAtMs, nowMs } = moment;
  return pairedAtMs === null ? 0 : Math.max(0, Math.floor((nowMs - pairedAtMs) / DAY_MS));
}

/** Returns the caps of a shop at this moment. `share` is the part of each cap that a send may use (`shareOf`). */
export function messageCaps(
  facts: WarmupMoment & { readonly settings: TenantSettings; readonly share?: number | undefined },
): MessageCaps {
  const { settings, share } = facts;
  const perDay = dailyCap(warmupDay(facts));
  return {
    perDay: shareOf(perDay, share),
    perHour: shareOf(hourlyCap(perDay), share),
    coldPerDay: shareOf(coldCap(perDay, settings), share),
    declaredPerDay: shareOf(settings.declaredPerDay, share),
  };
}

/**
 * Returns the part of a cap that a send may use, rounded down. Without a share it is the whole cap. It is at least one
 * if the cap is not 0, because 0 would refuse every send.
 */
export function shareOf(cap: number, share: number | undefined): number {
  return share === undefined || cap < 1 ? cap : Math.max(1, Math.floor(cap * share));
}

/** Returns a sixth of the daily cap, at least 10 (docs/contract.md, Messages to numbers). */
export function hourlyCap(perDay: number): number {
  return Math.max(10, Math.floor(perDay / 6));
}

/** Returns the tuned cold cap, else a tenth of the daily cap, at least 5 (docs/contract.md, Messages to numbers). */
export function coldCap(perDay: number, settings: TenantSettings): number {
  return settings.coldPerDay ?? Math.max(5, Math.floor(perDay / 10));
}

/**
 * Returns the first moment, from now on, at which a rule whose cap follows the daily cap lets a send through. Either
 * the window frees up under the present cap, or a warm-up step raises the cap before that. `roomAtMs` returns, for a
 * daily cap, when the window frees up.
 */
export function reliefAcrossWarmup(
  facts: WarmupMoment & { readonly roomAtMs: (perDay: number) => number },
): number {
  const { pairedAtMs, nowMs, roomAtMs } = facts;
  const day = warmupDay(facts);
  let relief = roomAtMs(dailyCap(day));
  for (const step of WARMUP_STEPS) {
    if (step.fromDay > day && pairedAtMs !== null) {
      const startMs = pairedAtMs + step.fromDay * DAY_MS;
      relief = Math.min(relief, Math.max(startMs, roomAtMs(step.perDay)));
    }
  }
  return Math.max(nowMs, relief);
}

function dailyCap(day: number): number {
  let perDay: number = WARMUP_STEPS[0].perDay;
  for (const step of WARMUP_STEPS) {
    if (day >= step.fromDay) perDay = step.perDay;
  }
  return perDay;
}
