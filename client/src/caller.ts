import { dataOf } from './answer.ts';
import { ApiError } from './api-error.ts';
import { type ApiRequest, apiRequest } from './api-request.ts';
import { pause, timeLimit } from './client-clock.ts';
import type { ClientSettings } from './client-options.ts';
import type { Answer, Call, CallOptions, OperationName, Params } from './methods.ts';

/** The longest first pause without a `retryAfter`, in milliseconds. It doubles with each try. */
const FIRST_PAUSE_MS = 200;
/** The longest such pause, in milliseconds: a dead node is replaced within its lease of 5 seconds. */
const LONGEST_PAUSE_MS = 5_000;

/** Refusals that the same call would get again. */
const FINAL_CODES: ReadonlySet<string> = new Set(['DECLARE_BATCH_TOO_LARGE', 'MSGAPP_SESSION_LOST']);

/** A call that failed, and how often it was tried. */
interface FailedTry {
  readonly error: ApiError;
  /** Number of attempts, including this one. */
  readonly tries: number;
  readonly isRepeatable: boolean;
  readonly longestRetryAfterMs: number;
}

/**
 * Returns the pause before the call is repeated, in milliseconds, or undefined if it is not repeated. With a
 * `retryAfter` the pause is longer by a random time. Without one it is between half of a growing time and all of it.
 * So many clients do not come back at once.
 */
function pauseBeforeRetry(failedTry: FailedTry, random: () => number): number | undefined {
  if (!mayRepeat(failedTry)) return undefined;
  const growingMs = Math.min(FIRST_PAUSE_MS * 2 ** (failedTry.tries - 1), LONGEST_PAUSE_MS);
  const { retryAfter } = failedTry.error;
  if (retryAfter === undefined) return growingMs * (0.5 + random() / 2);
  if (retryAfter * 1_000 > failedTry.longestRetryAfterMs) return undefined;
  return retryAfter * 1_000 + growingMs * random();
}

function mayRepeat({ error, tries, isRepeatable }: FailedTry): boolean {
  const { code, status } = error;
  if (FINAL_CODES.has(code)) return false;
  // Without `retryAfter` the session does not come back by itself: a person must connect the number.
  if (code === 'MSGAPP_NOT_CONNECTED' && error.retryAfter === undefined) return false;
  // The call was refused before anything was done.
  if (status === 429 || code === 'OVERLOADED') return true;
  if (!isRepeatable) return false;
  if (status === undefined) return code === 'NO_ANSWER' || code === 'TIMEOUT';
  if (status === 500) return tries === 1;
  return status === 502 || status === 503 || status === 504;
}

/**
 * Ids that arrive unchanged. fetch removes spaces at both ends. A character outside ASCII makes it fail, as a broken
 * connection does.
 */
const REQUEST_ID = /^(?! )[ -~]{1,256}(?<! )$/;

/** One call as it goes out, with its time limits. */
interface Sending extends ApiRequest {
  readonly requestId: string;
  readonly signal: AbortSignal | undefined;
  readonly tryTimeoutMs: number;
}

/**
 * Calls operations of the API. Each attempt has a time limit. A call is repeated if that does no harm, until its own
 * time is over.
 */
export function caller(settings: ClientSettings): Call {
  const calls = new Caller(settings);
  return (name, params, options) => calls.call(name, params, options);
}

class Caller {
  readonly #settings: ClientSettings;
  /** Counts up with each move to the next address. */
  #address = 0;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  async call<Name extends OperationName>(
    name: Name,
    params: Params<Name>,
    options: CallOptions = {},
  ): Promise<Answer<Name>> {
    const settings = this.#settings;
    const { signal, requestId = settings.newId(), timeoutMs = settings.timeoutMs } = options;
    const { longestRetryAfterMs = settings.longestRetryAfterMs } = options;
    const request = apiRequest(name, params, settings.newId);
    if (!REQUEST_ID.test(requestId)) {
      throw new TypeError(
        `${name}: requestId must be 1 to 256 characters of ASCII, without blanks around them`,
      );
    }
    const sending: Sending = {
      ...request,
      isRepeatable: options.isRepeatable ?? request.isRepeatable,
      signal,
      requestId,
      tryTimeoutMs: settings.tryTimeoutMs + waitMsOf(params),
    };
    return this.#tryAgain(sending, { timeoutMs, longestRetryAfterMs });
  }

  /** Tries until an answer or a failure that is final. */
  async #tryAgain<Name extends OperationName>(
    sending: Sending,
    { timeoutMs, longestRetryAfterMs }: { readonly timeoutMs: number; readonly longestRetryAfterMs: number },
  ): Promise<Answer<Name>> {
    const { clock, random, onRetry } = this.#settings;
    const { signal, isRepeatable } = sending;
    const endMs = clock.monotonicMs() + timeoutMs;
    for (let tries = 1; ; tries += 1) {
      signal?.throwIfAborted();
      const address = this.#address;
      try {
        return await this.#tryOnce<Name>(sending, endMs - clock.monotonicMs());
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ApiError)) throw error;
        const pauseMs = pauseBeforeRetry({ error, tries, isRepeatable, longestRetryAfterMs }, random);
        if (pauseMs === undefined || clock.monotonicMs() + pauseMs >= endMs) throw error;
        // Another node may answer. Calls that fail together move on only once. A refusal by limits is the same on every
        // node.
        if (error.status !== 429 && this.#address === address) this.#address += 1;
        onRetry(error, pauseMs);
        await pause(clock, pauseMs, signal);
      }
    }
  }

  async #tryOnce<Name extends OperationName>(sending: Sending, limitMs: number): Promise<Answer<Name>> {
    const settings = this.#settings;
    const { clock, baseUrls, apiKey } = settings;
    const { method, path, headers: own, body, requestId } = sending;
    const limit = timeLimit(clock, Math.min(limitMs, sending.tryTimeoutMs), sending.signal);
    try {
      const response = await settings.fetch(`${baseUrls[this.#address % baseUrls.length]}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          'x-request-id': requestId,
          ...own,
        },
        ...(body === undefined ? {} : { body }),
        // The API never redirects, and a redirected POST would become a GET.
        redirect: 'manual',
        signal: limit.signal,
      });
      const { status, headers } = response;
      // The caller reads a file at its own speed.
      const isFile = sending.isFile && response.ok;
      const data = isFile ? response.body : dataOf(response, await response.text(), requestId);
      return { status, data, headers, requestId: headers.get('x-request-id') ?? requestId } as Answer<Name>;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      const fields = { requestId, cause: error };
      if (limit.isUp()) throw new ApiError({ code: 'TIMEOUT', reason: 'no answer in time', ...fields });
      throw new ApiError({ code: 'NO_ANSWER', reason: 'the connection failed', ...fields });
    } finally {
      limit.release();
    }
  }
}

/** Returns how long the call asks the service to wait, in milliseconds. */
function waitMsOf(params: object): number {
  return 'waitMs' in params && typeof params.waitMs === 'number' ? params.waitMs : 0;
}
