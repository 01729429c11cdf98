/** The client's only source of time. */
export interface ClientClock {
  /** Milliseconds since a fixed moment. The value never decreases. */
  monotonicMs(): number;
  /** Calls `action` once after `delayMs`, unless it is cancelled before. */
  after(delayMs: number, action: () => void): { cancel(): void };
}

/** The process's own time. */
export const realClock: ClientClock = {
  monotonicMs: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted. */
export function pause(clock: ClientClock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** A time limit and a caller's signal in one. */
export interface TimeLimit {
  /** Aborted when the time is up or the caller's signal was aborted. */
  readonly signal: AbortSignal;
  /** True if the time limit has passed. */
  isUp(): boolean;
  /** Releases timer and signal; it must always be called. */
  release(): void;
}

/** Makes a limit of `limitMs` (`Infinity`: none) and a caller's signal. Its `release` removes all listeners. */
export function timeLimit(clock: ClientClock, limitMs: number, outer: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  let isUp = false;
  const end = (): void => controller.abort(outer?.reason);
  const timer =
    limitMs === Number.POSITIVE_INFINITY
      ? undefined
      : clock.after(limitMs, () => {
          isUp = true;
          controller.abort();
        });
  if (outer?.aborted) end();
  outer?.addEventListener('abort', end, { once: true });
  return {
    signal: controller.signal,
    isUp: () => isUp,
    release() {
      timer?.cancel();
      outer?.removeEventListener('abort', end);
    },
  };
}
