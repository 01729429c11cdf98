import type { RateBucket, RateDecision, RateLimits } from '../../policy/limits/key-limits.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';

const windows = [
  { scope: 'minute', windowMs: MINUTE_MS },
  { scope: 'hour', windowMs: HOUR_MS },
  { scope: 'day', windowMs: DAY_MS },
] as const;

interface WindowState {
  readonly scope: (typeof windows)[number]['scope'];
  readonly windowMs: number;
  isExact: boolean;
  timesMs: number[];
}

/**
 * Independent rate windows of one key, as plain as possible. The time of every accepted call that still counts is in
 * one array for each window, in order. Above a limit of 1,000, a call counts until its whole 256th of the window is a
 * window old. It shares no code with `policy/`.
 */
export class RateOracle {
  #latestMs = 0;
  #states: WindowState[] = windows.map((window) => ({ ...window, isExact: true, timesMs: [] }));
  #saved = { latestMs: this.#latestMs, states: this.#states };

  /** Remembers all there is now for `restart`. */
  save(): void {
    this.#saved = { latestMs: this.#latestMs, states: this.#states.map(copyOf) };
  }

  /** Forgets all that came after `save`. */
  restart(): void {
    this.#latestMs = this.#saved.latestMs;
    this.#states = this.#saved.states.map(copyOf);
  }

  take(limits: RateLimits, nowMs: number): RateDecision {
    this.#refresh(limits, nowMs);
    const isAdmitted = this.#states.every((state) => state.timesMs.length < limits[state.scope]);
    if (isAdmitted) {
      for (const state of this.#states)
        state.timesMs.push(Math.max(this.#latestMs, state.timesMs.at(-1) ?? 0));
    }
    const buckets = this.#states.map((state) => ({ state, ...this.#bucket(state, limits[state.scope]) }));
    const fewest = Math.min(...buckets.map(({ remaining }) => remaining));
    const tight = buckets.filter(({ remaining }) => remaining === fewest);
    const latest = Math.max(...tight.map(({ reliefMs }) => reliefMs));
    const { state, remaining, reliefMs } = tight.find(
      (bucket) => bucket.reliefMs === latest,
    ) as (typeof tight)[number];
    const bucket = {
      scope: state.scope,
      limit: limits[state.scope],
      remaining,
      resetAtSeconds: Math.ceil(reliefMs / 1_000),
    };
    return isAdmitted
      ? { isAdmitted, ...bucket }
      : { isAdmitted, ...bucket, retryAfterSeconds: Math.ceil((reliefMs - nowMs) / 1_000) };
  }

  peek(limits: RateLimits, nowMs: number): readonly RateBucket[] {
    this.#refresh(limits, nowMs);
    return this.#states.map((state) => {
      const limit = limits[state.scope];
      const { remaining, reliefMs } = this.#bucket(state, limit);
      return { scope: state.scope, limit, remaining, resetAtSeconds: Math.ceil(reliefMs / 1_000) };
    });
  }

  #refresh(limits: RateLimits, nowMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    for (const state of this.#states) {
      // An ended time stays ended, even if a changed limit would count it for longer.
      state.timesMs = this.#counting(state);
      const isExact = limits[state.scope] <= 1_000;
      if (isExact && !state.isExact)
        state.timesMs = state.timesMs.map((timeMs) => this.#lastOfBucketMs(state, timeMs));
      state.isExact = isExact;
      state.timesMs = this.#counting(state);
    }
  }

  #counting(state: WindowState): number[] {
    const ended = state.timesMs.findIndex((timeMs) => this.#untilMs(state, timeMs) > this.#latestMs);
    if (ended === 0) return state.timesMs;
    return ended === -1 ? [] : state.timesMs.slice(ended);
  }

  #untilMs(state: WindowState, timeMs: number): number {
    return state.isExact ? timeMs + state.windowMs : this.#lastOfBucketMs(state, timeMs) + 1 + state.windowMs;
  }

  /** The last whole millisecond in the 256th of the window that a moment lies in. */
  #lastOfBucketMs(state: WindowState, timeMs: number): number {
    const bucketMs = state.windowMs / 256;
    const bucket = Math.floor((timeMs * 256) / state.windowMs);
    return Math.ceil((bucket + 1) * bucketMs) - 1;
  }

  #bucket(state: WindowState, limit: number): { remaining: number; reliefMs: number } {
    const usedCount = state.timesMs.length;
    const oldestToGo = state.timesMs[Math.max(0, usedCount - limit)];
    return {
      remaining: Math.max(0, limit - usedCount),
      reliefMs: oldestToGo === undefined ? this.#latestMs : this.#untilMs(state, oldestToGo),
    };
  }
}

function copyOf(state: WindowState): WindowState {
  return { ...state, timesMs: [...state.timesMs] };
}
