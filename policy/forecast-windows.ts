import { DAY_MS, HOUR_MS } from '../runtime/durations.ts';
import { kindSet, type SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';
import {
  hourlyCap,
  type MessageCaps,
  messageCaps,
  reliefAcrossWarmup,
  shareOf,
  warmupDay,
} from './warm-up.ts';

/** The facts from which the caps of a number follow. */
interface Budget {
  readonly pairedAtMs: number | null;
  readonly settings: TenantSettings;
}

/** The caps of one share, as last computed, and the last result for it. */
interface ShareFigures {
  day: number;
  caps: MessageCaps;
  atMs: number;
  sent: number;
  roomMs: number;
}

/**
 * The 1:1 messages that count in virtual time, which never goes back. Each query takes the same few steps for any
 * number of messages.
 */
export class ForecastWindows {
  /** Times of all messages and of those to declared recipients, oldest first. */
  readonly #allMs: number[];
  readonly #declaredMs: number[];
  readonly #budget: Budget;
  readonly #figures = new Map<number, ShareFigures>();

  constructor(ledger: SendLedger, budget: Budget) {
    this.#allMs = ledger.timesMs(kindSet('known', 'cold', 'declared'));
    this.#declaredMs = ledger.timesMs(kindSet('declared'));
    this.#budget = budget;
  }

  record(kind: 'known' | 'declared', atMs: number): void {
    this.#allMs.push(atMs);
    if (kind === 'declared') this.#declaredMs.push(atMs);
  }

  /**
   * Returns when the daily and the hourly cap let a message of this share through. `nowMs` or an earlier time means
   * now.
   */
  budgetMs(share: number, nowMs: number): number {
    const sentCount = this.#allMs.length;
    const figures = this.#figuresAt(share, nowMs);
    // Batches that wait for the same cap ask at the same moment.
    if (figures.atMs === nowMs && figures.sent === sentCount) return figures.roomMs;
    figures.atMs = nowMs;
    figures.sent = sentCount;
    figures.roomMs = this.#roomMs(figures.caps, share, nowMs);
    return figures.roomMs;
  }

  /** Returns when the cap of declared recipients lets a message through. */
  declaredMs(share: number, nowMs: number): number {
    return roomMs(this.#declaredMs, this.#figuresAt(share, nowMs).caps.declaredPerDay, DAY_MS);
  }

  #roomMs({ perDay, perHour }: MessageCaps, share: number, nowMs: number): number {
    if (roomMs(this.#allMs, perDay, DAY_MS) > nowMs)
      return this.#reliefMs(nowMs, (cap) => roomMs(this.#allMs, shareOf(cap, share), DAY_MS));
    if (roomMs(this.#allMs, perHour, HOUR_MS) <= nowMs) return nowMs;
    return this.#reliefMs(nowMs, (cap) => roomMs(this.#allMs, shareOf(hourlyCap(cap), share), HOUR_MS));
  }

  #reliefMs(nowMs: number, roomAtMs: (perDay: number) => number): number {
    return reliefAcrossWarmup({ pairedAtMs: this.#budget.pairedAtMs, nowMs, roomAtMs });
  }

  /** The remembered figures of a share, with the caps of this moment. */
  #figuresAt(share: number, nowMs: number): ShareFigures {
    const { pairedAtMs, settings } = this.#budget;
    const day = warmupDay({ pairedAtMs, nowMs });
    const knownFigures = this.#figures.get(share);
    if (knownFigures?.day === day) return knownFigures;
    const caps = messageCaps({ pairedAtMs, settings, share, nowMs });
    const newFigures = { day, caps, atMs: Number.NaN, sent: 0, roomMs: 0 };
    this.#figures.set(share, newFigures);
    return newFigures;
  }
}

/**
 * Returns the first time at which a window of `windowMs` contains fewer of these times than `cap`. It is in the past if
 * the window already does.
 */
export function roomMs(timesMs: readonly number[], cap: number, windowMs: number): number {
  if (cap < 1) return Number.POSITIVE_INFINITY;
  // Once this one leaves the window, it contains fewer than `cap`.
  const leavingMs = timesMs[timesMs.length - cap];
  return leavingMs === undefined ? Number.NEGATIVE_INFINITY : leavingMs + windowMs;
}
