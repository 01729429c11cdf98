/** The least a careful client of the API needs: the envelope, errors by code, and repetition where it does no harm. */
import { setTimeout as sleep } from 'node:timers/promises';

const BASE = process.env.API_URL ?? 'http://127.0.0.1:3000/api/v1';
const KEY = process.env.API_KEY;
if (KEY === undefined) throw new Error('Set API_KEY to a key of the tenant.');

/** Longest wait that a program with somebody in front of it should sit through, in seconds. */
const LONGEST_WAIT_SECONDS = 30;
const MOST_TRIES = 8;

/** A refusal of the API. Decide by `code`; `message` is for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    error: { readonly code: string; readonly message: string; readonly retryAfter?: number },
  ) {
    super(`${status} ${error.code}: ${error.message}`);
    this.status = status;
    this.code = error.code;
    this.retryAfterSeconds = error.retryAfter;
  }
}

/** What a successful call answered. */
export interface Answer<Data> {
  readonly status: number;
  readonly data: Data;
}

/** One call. Throws an `ApiError` for a refusal and `fetch`'s own error where no answer came. */
async function call<Data>(method: string, path: string, body?: object): Promise<Answer<Data>> {
  const response = await fetch(`${BASE}${path}`, {
    method,
    headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const answer = (await response.json()) as { data: Data; error: ConstructorParameters<typeof ApiError>[1] };
  if (!response.ok) throw new ApiError(response.status, answer.error);
  return { status: response.status, data: answer.data };
}

/**
 * The same, repeated while the answer is missing, a 503 or a 429 that ends soon. For calls that may be repeated: every
 * GET, and a send with an idempotency key.
 */
export async function callAgain<Data>(method: string, path: string, body?: object): Promise<Answer<Data>> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call<Data>(method, path, body);
    } catch (error) {
      const waitSeconds = secondsToWait(error, tries);
      if (waitSeconds === undefined || tries === MOST_TRIES) throw error;
      // Half of the wait is drawn, so that many clients do not come back at once.
      await sleep(waitSeconds * 1000 * (0.5 + Math.random() / 2));
    }
  }
}

/** How long to wait before the call is repeated; undefined: another try would answer the same. */
function secondsToWait(error: unknown, tries: number): number | undefined {
  const growing = Math.min(2 ** (tries - 2), LONGEST_WAIT_SECONDS);
  if (!(error instanceof ApiError)) return growing;
  // A number without a session does not come back by itself.
  if (error.code === 'MSGAPP_NOT_CONNECTED' || error.code === 'MSGAPP_SESSION_LOST') return undefined;
  if (error.status !== 503 && error.status !== 429) return undefined;
  // Twice what is asked for, since half of it may be drawn away.
  const wanted = error.retryAfterSeconds === undefined ? growing : 2 * error.retryAfterSeconds;
  return wanted <= 2 * LONGEST_WAIT_SECONDS ? wanted : undefined;
}
