import type { ApiError } from './api-error.ts';
import { type ClientClock, realClock } from './client-clock.ts';

/** The address, the key and the limits of a client. */
export interface ClientOptions {
  /**
   * Base address of the API, ending with `/api/v1`. A list must name nodes of one service: the repetition of a call
   * asks the next one, except after 429.
   */
  readonly baseUrl: string | readonly string[];
  readonly apiKey: string;
  /** The longest time of a call with all its repetitions, in milliseconds. By default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The longest time of one attempt, in milliseconds. By default 20,000. A call's `waitMs` is added. */
  readonly tryTimeoutMs?: number | undefined;
  /**
   * The longest `retryAfter` that a call waits for, in milliseconds. By default 30,000. With a longer one it fails at
   * once.
   */
  readonly longestRetryAfterMs?: number | undefined;
  /**
   * The shortest time between the calls for two pages of a feed, in milliseconds. By default 3,000. It limits the calls
   * of a busy feed. It is not kept before the second page of a feed without a `cursor`, nor before a repetition.
   */
  readonly eventGapMs?: number | undefined;
  /** Called before the pause of each retry, for a log. */
  readonly onRetry?: ((error: ApiError, pauseMs: number) => void) | undefined;
  /** Returns a random number from 0 up to 1, for the pauses. By default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Makes unique idempotency keys and request ids. By default `crypto.randomUUID`. */
  readonly newId?: (() => string) | undefined;
  readonly clock?: ClientClock | undefined;
  /** Used instead of the global `fetch`, for example for a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/** The options with their defaults. */
export type ClientSettings = {
  readonly [name in Exclude<keyof ClientOptions, 'baseUrl'>]-?: NonNullable<ClientOptions[name]>;
} & {
  /** One or more, without a slash at the end. */
  readonly baseUrls: readonly string[];
};

/** Adds the defaults. Throws a `TypeError` for an invalid address or key, without the key in its text. */
export function clientSettings(options: ClientOptions): ClientSettings {
  const baseUrls = [options.baseUrl].flat().map(checkedUrl);
  if (baseUrls.length === 0) throw new TypeError('baseUrl: one address at least');
  // A key with a line break would otherwise be quoted by fetch, in an error that may be logged.
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) throw new TypeError('apiKey: visible ASCII without blanks');
  return {
    baseUrls,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 60_000,
    tryTimeoutMs: options.tryTimeoutMs ?? 20_000,
    longestRetryAfterMs: options.longestRetryAfterMs ?? 30_000,
    eventGapMs: options.eventGapMs ?? 3_000,
    onRetry: options.onRetry ?? (() => undefined),
    random: options.random ?? Math.random,
    newId: options.newId ?? (() => crypto.randomUUID()),
    clock: options.clock ?? realClock,
    fetch: options.fetch ?? ((...call) => fetch(...call)),
  };
}

function checkedUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol))
    throw new TypeError('baseUrl: an http or https address without user, query or fragment');
  return url.href.replace(/\/+$/, '');
}
