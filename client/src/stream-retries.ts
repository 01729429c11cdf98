import { ApiError } from './api-error.ts';
import { pause } from './client-clock.ts';
import type { ClientSettings } from './client-options.ts';
import { pauseBeforeRetry } from './retry.ts';

/** Where and when the next connection of a stream is made. */
export interface StreamRetries {
  /** The address to ask now. */
  baseUrl(): string;
  /** The stream told something, perhaps how long to stay away once the connection is lost (milliseconds). */
  heard(retryMs: number | undefined): void;
  /** Waits for the time of the next connection; rejects with what cannot be mended, or lasts longer than it may. */
  failed(error: unknown): Promise<void>;
}

/** As calls are repeated: with growing pauses, elsewhere, for up to `timeoutMs` after the stream last told something. */
export function streamRetries(
  { clock, random, onRetry, baseUrls }: ClientSettings,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): StreamRetries {
  let address = 0;
  let tries = 0;
  let leastMs = 0;
  let heardMs = clock.monotonicMs();
  return {
    baseUrl: () => baseUrls[address % baseUrls.length] ?? '',
    heard(retryMs) {
      tries = 0;
      leastMs = retryMs ?? leastMs;
      heardMs = clock.monotonicMs();
    },
    async failed(error) {
      if (!(error instanceof ApiError)) throw error;
      const nowMs = clock.monotonicMs();
      // A quiet stream that was heard long ago was there until now.
      if (tries === 0) heardMs = nowMs;
      tries += 1;
      const failure = { error, tries, isRepeatable: true, longestRetryAfterMs: timeoutMs };
      const growingMs = pauseBeforeRetry(failure, random);
      const pauseMs = Math.max(growingMs ?? 0, leastMs);
      if (growingMs === undefined || nowMs + pauseMs >= heardMs + timeoutMs) throw error;
      if (error.status !== 429) address += 1;
      onRetry(error, pauseMs);
      await pause(clock, pauseMs, signal);
    },
  };
}
