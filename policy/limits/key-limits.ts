import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../runtime/durations.ts';
import { EXACT_LIMIT, RateWindow } from './rate-window.ts';
import { decodeWholeNumbers, encodeWholeNumbers } from './whole-numbers-text.ts';

/** The windows of an API key, shortest first. */
export type RateScope = 'minute' | 'hour' | 'day';

/** How many calls a key has in each window. */
export type RateLimits = Readonly<Record<RateScope, number>>;

/** Limits of a key that was given none (docs/contract.md, API limits). */
export const DEFAULT_RATE_LIMITS: RateLimits = { minute: 60, hour: 1_000, day: 10_000 };

/** Least and most calls a key may be given for a window (docs/contract.md, API limits). */
export const RATE_LIMIT_RANGE = { floor: 1, roof: 100_000_000 } as const;

/** The figures of one window of a key. */
export interface RateBucket {
  readonly scope: RateScope;
  readonly limit: number;
  readonly remaining: number;
  /**
   * Unix seconds at which the next call becomes free: when the oldest call leaves the window, or when the refusal ends.
   */
  readonly resetAtSeconds: number;
}

/** The decision on a call, and the bucket with the fewest calls left. */
export interface RateDecision extends RateBucket {
  readonly isAdmitted: boolean;
  /** Whole seconds after which the call is let through, rounded up. Present only on a refusal. */
  readonly retryAfterSeconds?: number;
}

/** A key, its present limits and the time. */
export interface KeyCall {
  readonly keyId: string;
  readonly limits: RateLimits;
  readonly nowMs: number;
}

/**
 * Shortest first. Methods that run in each call name the windows or use an index. An iterator allocates 40 bytes a step
 * until V8 has optimized the loop.
 */
const SCOPES = ['minute', 'hour', 'day'] as const satisfies readonly RateScope[];
const WINDOW_MS: Readonly<Record<RateScope, number>> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };

/** A key that counted calls since it was last stored. */
export interface ChangedKey {
  readonly keyId: string;
  /** The number of changes of the key up to `state`; pass it to `onStored`. */
  readonly changes: number;
  readonly state: string;
}

type Windows = Readonly<Record<RateScope, RateWindow>>;

/** A key in memory. */
interface KeyState {
  readonly windows: Windows;
  /** The latest time seen, in Unix milliseconds. When the clock steps back, this time counts as now. */
  latestMs: number;
  /** Changes so far, and changes up to the state that was last stored. */
  changes: number;
  storedChanges: number;
}

/**
 * The rate windows of all keys of a node. A call counts in all three windows of its key. If one of them is full it
 * counts in none. A window never lets through more calls than its limit. Exact up to a limit of `EXACT_LIMIT`; above it
 * a window may free up late, by at most 1/256 of its length. Each key needs a single writer.
 */
export class KeyLimits {
  readonly #keys = new Map<string, KeyState>();
  #sweeper: IterableIterator<KeyState> | undefined;

  /** Points in memory of all windows. A window with five of them takes about 330 bytes. */
  get points(): number {
    let points = 0;
    for (const { windows } of this.#keys.values()) {
      for (const scope of SCOPES) points += windows[scope].length;
    }
    return points;
  }

  /** Counts a call when every window has one left. */
  take(call: KeyCall): RateDecision {
    const { limits, nowMs } = call;
    const key = this.#refresh(call);
    const { minute, hour, day } = key.windows;
    const isAdmitted = minute.total < limits.minute && hour.total < limits.hour && day.total < limits.day;
    if (isAdmitted) {
      minute.add(minute.tickOf(key.latestMs), 1);
      hour.add(hour.tickOf(key.latestMs), 1);
      day.add(day.tickOf(key.latestMs), 1);
      key.changes += 1;
    }
    return this.#decide({ key, limits, nowMs, isAdmitted });
  }

  /** Returns the bucket with the fewest calls left. Counts nothing. */
  narrowestBucket({ keyId, limits, nowMs }: KeyCall): RateBucket {
    return this.#decide({ key: this.#refresh({ keyId, limits, nowMs }), limits, nowMs, isAdmitted: true });
  }

  /** Returns the state of the key's windows, shortest first. Counts nothing. */
  peek(call: KeyCall): readonly RateBucket[] {
    const key = this.#refresh(call);
    return SCOPES.map((scope) => {
      const limit = call.limits[scope];
      const remaining = Math.max(0, limit - key.windows[scope].total);
      const reliefMs = reliefMsOf(key, scope, limit);
      return { scope, limit, remaining, resetAtSeconds: Math.ceil(reliefMs / 1_000) };
    });
  }

  /** True if a call of the key was counted since it was last stored (`onStored`). */
  hasChanged(keyId: string): boolean {
    const key = this.#keys.get(keyId);
    return key !== undefined && key.changes !== key.storedChanges;
  }

  /** Returns the key's state as ASCII text if it changed since it was last stored (`onStored`), else `undefined`. */
  changedState(keyId: string): ChangedKey | undefined {
    const key = this.#keys.get(keyId);
    if (key === undefined || !this.hasChanged(keyId)) return undefined;
    const numbers = [key.latestMs];
    for (const scope of SCOPES) {
      const window = key.windows[scope];
      const points = window.points();
      numbers.push(window.isExact ? 1 : 0, points.length);
      let previousTick = 0;
      for (const { tick, count } of points) {
        numbers.push(tick - previousTick, count);
        previousTick = tick;
      }
    }
    return { keyId, changes: key.changes, state: encodeWholeNumbers(numbers) };
  }

  /** Marks a state as stored. Calls that were counted after it was read must still be stored. */
  onStored({ keyId, changes }: Pick<ChangedKey, 'keyId' | 'changes'>): void {
    const key = this.#keys.get(keyId);
    if (key !== undefined) key.storedChanges = changes;
  }

  /**
   * Replaces a key's state with a stored one. A clock that was ahead may have counted calls after `nowMs`. They count
   * as made at `nowMs`, and the state as changed. Throws on a text that cannot be read or is cut short.
   */
  restore(stored: { readonly keyId: string; readonly state: string; readonly nowMs: number }): void {
    const numbers = decodeWholeNumbers(stored.state).values();
    const next = (): number => {
      const { value } = numbers.next();
      if (value === undefined) throw new Error('a stored rate state is cut short');
      return value;
    };
    const storedMs = next();
    const latestMs = Math.min(storedMs, stored.nowMs);
    const isAhead = latestMs < storedMs;
    const windows = windowsOf((scope) => {
      const window = new RateWindow(WINDOW_MS[scope], next() === 1);
      // A window that was converted may end later than the latest call.
      const latestTick = isAhead ? window.tickOf(latestMs) : Number.POSITIVE_INFINITY;
      let tick = 0;
      const length = next();
      for (let index = 0; index < length; index += 1) {
        tick += next();
        window.add(Math.min(tick, latestTick), next());
      }
      return window;
    });
    this.#keys.set(stored.keyId, { windows, latestMs, changes: isAhead ? 1 : 0, storedChanges: 0 });
  }

  /** Frees the memory of a key that was erased or is owned by another node now. */
  forget(keyId: string): void {
    this.#keys.delete(keyId);
  }

  /** Frees empty windows of the next `keyCount` keys. Each call continues after the last key of the one before. */
  sweep(sweep: { readonly nowMs: number; readonly keyCount: number }): void {
    for (let count = 0; count < sweep.keyCount; count += 1) {
      this.#sweeper ??= this.#keys.values();
      const { value: key, done } = this.#sweeper.next();
      if (done === true) {
        this.#sweeper = undefined;
        return;
      }
      expire(key, sweep.nowMs);
    }
  }

  /** Brings a key up to now: drops old calls and converts windows whose limit crossed `EXACT_LIMIT`. */
  #refresh(call: KeyCall): KeyState {
    const key = this.#key(call.keyId);
    // Expire before a conversion, because sub-buckets would count old calls for longer.
    expire(key, call.nowMs);
    const { minute, hour, day } = key.windows;
    convert(minute, call.limits.minute, key.latestMs);
    convert(hour, call.limits.hour, key.latestMs);
    convert(day, call.limits.day, key.latestMs);
    return key;
  }

  #key(keyId: string): KeyState {
    const knownKey = this.#keys.get(keyId);
    if (knownKey !== undefined) return knownKey;
    const windows = windowsOf((scope) => new RateWindow(WINDOW_MS[scope]));
    const key = { windows, latestMs: 0, changes: 0, storedChanges: 0 };
    this.#keys.set(keyId, key);
    return key;
  }

  /**
   * Chooses the bucket with the fewest calls left. If several have as few, the one that frees a call last is chosen.
   */
  #decide(state: {
    readonly key: KeyState;
    readonly limits: RateLimits;
    readonly nowMs: number;
    readonly isAdmitted: boolean;
  }): RateDecision {
    const { key, limits, nowMs, isAdmitted } = state;
    let narrowestScope: RateScope = 'minute';
    let remaining = Number.POSITIVE_INFINITY;
    let reliefMs = 0;
    for (let index = 0; index < SCOPES.length; index += 1) {
      const scope = SCOPES[index] as RateScope;
      const limit = limits[scope];
      const leftInWindow = Math.max(0, limit - key.windows[scope].total);
      if (leftInWindow > remaining) continue;
      const scopeReliefMs = reliefMsOf(key, scope, limit);
      if (leftInWindow < remaining || scopeReliefMs > reliefMs) {
        narrowestScope = scope;
        remaining = leftInWindow;
        reliefMs = scopeReliefMs;
      }
    }
    const resetAtSeconds = Math.ceil(reliefMs / 1_000);
    const bucket = {
      isAdmitted,
      scope: narrowestScope,
      limit: limits[narrowestScope],
      remaining,
      resetAtSeconds,
    };
    return isAdmitted ? bucket : { ...bucket, retryAfterSeconds: Math.ceil((reliefMs - nowMs) / 1_000) };
  }
}

function expire(key: KeyState, nowMs: number): void {
  key.latestMs = Math.max(key.latestMs, nowMs);
  const { minute, hour, day } = key.windows;
  minute.expire(key.latestMs);
  hour.expire(key.latestMs);
  day.expire(key.latestMs);
}

function convert(window: RateWindow, limit: number, nowMs: number): void {
  const isExact = limit <= EXACT_LIMIT;
  if (window.isExact !== isExact) window.convert(isExact, nowMs);
}

/** When the window will have more calls left than now; now when it has all of them. */
function reliefMsOf(key: KeyState, scope: RateScope, limit: number): number {
  const window = key.windows[scope];
  return window.total === 0 ? key.latestMs : window.reliefMs(Math.max(1, window.total - limit + 1));
}

/** Makes the windows, shortest first. */
function windowsOf(make: (scope: RateScope) => RateWindow): Windows {
  return { minute: make('minute'), hour: make('hour'), day: make('day') };
}
