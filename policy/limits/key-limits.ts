import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts';
import {
  EXACT_LIMIT,
  type RatePoint,
  RateWindows,
  type Resolution,
  tickEndMs,
  tickOf,
} from './rate-windows.ts';
import { decodeWholeNumbers, encodeWholeNumbers } from './whole-numbers-text.ts';

/** The windows of an API key, shortest first. */
export type RateScope = 'minute' | 'hour' | 'day';

/** How many calls a key has in each window. */
export type RateLimits = Readonly<Record<RateScope, number>>;

/** Limits of a key that was given none (docs/contract.md, API limits). */
export const DEFAULT_RATE_LIMITS: RateLimits = { minute: 60, hour: 1_000, day: 10_000 };

/** Least and most calls a key may be given for a window (docs/contract.md, Authentication). */
export const RATE_LIMIT_RANGE = { floor: 1, roof: 100_000_000 } as const;

/** How one window of a key stands. */
export interface RateBucket {
  readonly scope: RateScope;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the next call comes back: the oldest that counts, or the one that ends the refusal. */
  readonly resetAtSeconds: number;
}

/** Whether a call was let through, and the bucket with the fewest calls left. */
export interface RateDecision extends RateBucket {
  readonly allowed: boolean;
  /** Whole seconds after which the call is let through, not one earlier. On a refusal only. */
  readonly retryAfterSeconds?: number;
}

/** A key, its present limits and the time. */
export interface KeyCall {
  readonly keyId: string;
  readonly limits: RateLimits;
  readonly nowMs: number;
}

const scopes = [
  { scope: 'minute', windowMs: MINUTE_MS },
  { scope: 'hour', windowMs: HOUR_MS },
  { scope: 'day', windowMs: DAY_MS },
] as const satisfies readonly { scope: RateScope; windowMs: number }[];
const resolutions = scopes.map(({ windowMs }) => ({
  exact: { windowMs, isExact: true },
  gathered: { windowMs, isExact: false },
}));

/** A key that counted calls since it was last stored. */
export interface ChangedKey {
  readonly keyId: string;
  /** Changes of the key up to `state`; `stored` is told of them. */
  readonly changes: number;
  readonly state: string;
}

/** What is kept of a key beside its windows. */
interface KeyState {
  /** Number of its first window. */
  readonly firstWindow: number;
  /** Which windows were exact when they were last used: a bit each. */
  exactBits: number;
  /** The latest time seen, in Unix milliseconds. When the clock steps back, this time counts as now. */
  latestMs: number;
  /** Changes so far, and changes up to the state that was last stored. */
  changes: number;
  storedChanges: number;
}

/**
 * The rate windows of all keys of a node. A call counts in all three windows of its key or, when one of them is full,
 * in none; no window ever lets through one too many. Exact up to a limit of `EXACT_LIMIT`, above it late by at most a
 * 256th of the window. Each key needs a single writer.
 */
export class KeyLimits {
  readonly #windows = new RateWindows();
  readonly #keys = new Map<string, KeyState>();
  readonly #freedWindows: number[] = [];
  #reserved = 0;
  #sweeper: IterableIterator<KeyState> | undefined;

  /** Memory of the windows in bytes, without the table of keys. */
  get bytes(): number {
    return this.#windows.bytes;
  }

  /** Counts a call when every window has one left. */
  take(call: KeyCall): RateDecision {
    const { limits, nowMs } = call;
    const key = this.#refresh(call);
    let allowed = true;
    for (let index = 0; index < scopes.length; index += 1) {
      allowed &&= this.#windows.total(key.firstWindow + index) < limits[scopeAt(index)];
    }
    if (allowed) {
      for (let index = 0; index < scopes.length; index += 1) {
        const tick = tickOf(resolutionAt(index, isExactAt(key, index)), key.latestMs);
        this.#windows.add(key.firstWindow + index, { tick, count: 1 });
      }
      key.changes += 1;
    }
    return this.#decide({ key, limits, nowMs, allowed });
  }

  /** The bucket with the fewest calls left, counting nothing. */
  narrowest({ keyId, limits, nowMs }: KeyCall): RateDecision {
    return this.#decide({ key: this.#refresh({ keyId, limits, nowMs }), limits, nowMs, allowed: true });
  }

  /** How the key's windows stand, shortest first, counting nothing. */
  peek(call: KeyCall): readonly RateBucket[] {
    const key = this.#refresh(call);
    return scopes.map(({ scope }, index) => {
      const limit = call.limits[scope];
      const remaining = Math.max(0, limit - this.#windows.total(key.firstWindow + index));
      const reliefMs = this.#reliefMs(key, index, limit);
      return { scope, limit, remaining, resetAtSeconds: Math.ceil(reliefMs / 1000) };
    });
  }

  /** Whether a call of the key was counted since it was last stored (`stored`). */
  hasChanged(keyId: string): boolean {
    const key = this.#keys.get(keyId);
    return key !== undefined && key.changes !== key.storedChanges;
  }

  /** The key's state as ASCII text when it changed since it was last stored (`stored`); else `undefined`. */
  changedState(keyId: string): ChangedKey | undefined {
    const key = this.#keys.get(keyId);
    if (key === undefined || !this.hasChanged(keyId)) {
      return undefined;
    }
    const numbers = [key.latestMs];
    for (let index = 0; index < scopes.length; index += 1) {
      const points = this.#windows.points(key.firstWindow + index);
      numbers.push(isExactAt(key, index) ? 1 : 0, points.length);
      let previousTick = 0;
      for (const { tick, count } of points) {
        numbers.push(tick - previousTick, count);
        previousTick = tick;
      }
    }
    return { keyId, changes: key.changes, state: encodeWholeNumbers(numbers) };
  }

  /** Marks a state as stored. Calls that were counted since it was taken remain to be stored. */
  stored({ keyId, changes }: Pick<ChangedKey, 'keyId' | 'changes'>): void {
    const key = this.#keys.get(keyId);
    if (key !== undefined) {
      key.storedChanges = changes;
    }
  }

  /**
   * Puts a stored state in place of what the key has. Calls that a clock which was ahead counted after `nowMs` count
   * as made then, and the state as changed. Throws on anything that `changedState` did not write.
   */
  restore(saved: { readonly keyId: string; readonly state: string; readonly nowMs: number }): void {
    const numbers = decodeWholeNumbers(saved.state).values();
    const next = (): number => {
      const { value } = numbers.next();
      if (value === undefined) {
        throw new Error('a stored rate state is cut short');
      }
      return value;
    };
    const storedMs = next();
    const latestMs = Math.min(storedMs, saved.nowMs);
    const isAhead = latestMs < storedMs;
    const stored = scopes.map(() => {
      const isExact = next() === 1;
      let tick = 0;
      const points = Array.from({ length: next() }, (): RatePoint => {
        tick += next();
        return { tick, count: next() };
      });
      return { isExact, points };
    });
    this.forget(saved.keyId);
    const key = this.#key(saved.keyId);
    key.latestMs = latestMs;
    for (const [index, { isExact, points }] of stored.entries()) {
      setExactAt(key, index, isExact);
      // A window that was converted may end later than the latest call.
      const latestTick = isAhead ? tickOf(resolutionAt(index, isExact), latestMs) : Number.POSITIVE_INFINITY;
      for (const { tick, count } of points) {
        this.#windows.add(key.firstWindow + index, { tick: Math.min(tick, latestTick), count });
      }
    }
    if (isAhead) key.changes += 1;
  }

  /** Frees the memory of a key that was erased or is owned by another node now. */
  forget(keyId: string): void {
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      return;
    }
    for (let index = 0; index < scopes.length; index += 1) {
      this.#windows.clear(key.firstWindow + index);
    }
    this.#freedWindows.push(key.firstWindow);
    this.#keys.delete(keyId);
  }

  /**
   * Frees the windows that ran empty, of the next `keyCount` keys in turn. Each call continues where the last
   * one ended.
   */
  sweep(sweep: { readonly nowMs: number; readonly keyCount: number }): void {
    for (let count = 0; count < sweep.keyCount; count += 1) {
      this.#sweeper ??= this.#keys.values();
      const { value: key, done } = this.#sweeper.next();
      if (done === true) {
        this.#sweeper = undefined;
        return;
      }
      this.#expire(key, sweep.nowMs);
    }
  }

  /** Brings a key up to now: drops what no longer counts and converts windows whose limit crossed `EXACT_LIMIT`. */
  #refresh(call: KeyCall): KeyState {
    const key = this.#key(call.keyId);
    // Before a conversion, since sub-buckets would count for longer what no longer counts.
    this.#expire(key, call.nowMs);
    for (let index = 0; index < scopes.length; index += 1) {
      const isExact = call.limits[scopeAt(index)] <= EXACT_LIMIT;
      if (isExactAt(key, index) !== isExact) {
        this.#convert(key, index, isExact);
      }
    }
    return key;
  }

  #key(keyId: string): KeyState {
    const known = this.#keys.get(keyId);
    if (known !== undefined) {
      return known;
    }
    const firstWindow = this.#freedWindows.pop() ?? this.#reserved;
    this.#reserved = Math.max(this.#reserved, firstWindow + scopes.length);
    this.#windows.reserve(this.#reserved);
    const key = { firstWindow, exactBits: 0, latestMs: 0, changes: 0, storedChanges: 0 };
    this.#keys.set(keyId, key);
    return key;
  }

  #expire(key: KeyState, nowMs: number): void {
    key.latestMs = Math.max(key.latestMs, nowMs);
    for (let index = 0; index < scopes.length; index += 1) {
      const resolution = resolutionAt(index, isExactAt(key, index));
      this.#windows.expire(key.firstWindow + index, resolution, tickOf(resolution, key.latestMs));
    }
  }

  /** The limit crossed `EXACT_LIMIT`: times become sub-buckets, or sub-buckets their last millisecond. */
  #convert(key: KeyState, index: number, isExact: boolean): void {
    const window = key.firstWindow + index;
    const before = resolutionAt(index, isExactAt(key, index));
    const after = resolutionAt(index, isExact);
    const points = this.#windows.points(window);
    this.#windows.clear(window);
    for (const { tick, count } of points) {
      this.#windows.add(window, { tick: tickOf(after, tickEndMs(before, tick)), count });
    }
    this.#windows.expire(window, after, tickOf(after, key.latestMs));
    setExactAt(key, index, isExact);
  }

  /** The bucket with the fewest calls left; of several the one that takes longest to give one back. */
  #decide(state: {
    readonly key: KeyState;
    readonly limits: RateLimits;
    readonly nowMs: number;
    readonly allowed: boolean;
  }): RateDecision {
    const { key, limits, nowMs, allowed } = state;
    let scope: RateScope = 'minute';
    let remaining = Number.POSITIVE_INFINITY;
    let reliefMs = 0;
    for (let index = 0; index < scopes.length; index += 1) {
      const limit = limits[scopeAt(index)];
      const left = Math.max(0, limit - this.#windows.total(key.firstWindow + index));
      if (left <= remaining) {
        const backMs = this.#reliefMs(key, index, limit);
        if (left < remaining || backMs > reliefMs) {
          scope = scopeAt(index);
          remaining = left;
          reliefMs = backMs;
        }
      }
    }
    const resetAtSeconds = Math.ceil(reliefMs / 1000);
    return allowed
      ? { allowed, scope, limit: limits[scope], remaining, resetAtSeconds }
      : {
          allowed,
          scope,
          limit: limits[scope],
          remaining,
          resetAtSeconds,
          retryAfterSeconds: Math.ceil((reliefMs - nowMs) / 1000),
        };
  }

  /** When the window will have more calls left than now; now when it has all of them. */
  #reliefMs(key: KeyState, index: number, limit: number): number {
    const total = this.#windows.total(key.firstWindow + index);
    return total === 0
      ? key.latestMs
      : this.#windows.reliefMs(
          key.firstWindow + index,
          resolutionAt(index, isExactAt(key, index)),
          Math.max(1, total - limit + 1),
        );
  }
}

function isExactAt(key: KeyState, index: number): boolean {
  return ((key.exactBits >>> index) & 1) === 1;
}

function setExactAt(key: KeyState, index: number, isExact: boolean): void {
  key.exactBits = isExact ? key.exactBits | (1 << index) : key.exactBits & ~(1 << index);
}

function scopeAt(index: number): RateScope {
  return (scopes[index] as (typeof scopes)[number]).scope;
}

function resolutionAt(index: number, isExact: boolean): Resolution {
  const resolution = resolutions[index] as (typeof resolutions)[number];
  return isExact ? resolution.exact : resolution.gathered;
}
