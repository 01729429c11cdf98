import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from './http-calls.ts';

/** The final reply to a call. */
export interface PatientAnswer {
  readonly status: number;
  readonly data: unknown;
  readonly code: string | undefined;
  /** How often it was asked again. */
  readonly repeats: number;
}

/** A node that is gone refuses at once, so a call waits this long before the next node. */
const AGAIN_MS = 100;
/** A call without an answer for this long is cut. */
const CALL_MS = 20_000;

/**
 * Makes a call as a careful caller would. A call that was cut off goes to the next node, and one that was answered 503
 * goes there after its `Retry-After`. Rejects after `patienceMs`. A call that changes something needs an idempotency
 * key.
 */
export async function patientCall(
  ports: () => readonly number[],
  call: Call,
  options: { readonly first: number; readonly patienceMs: number },
): Promise<PatientAnswer> {
  const untilMs = performance.now() + options.patienceMs;
  for (let repeats = 0; ; repeats += 1) {
    const all = ports();
    const answer = await once(all[(options.first + repeats) % all.length] as number, call).catch(
      (error: Error) => error,
    );
    if (!(answer instanceof Error) && answer.status !== 503) return { ...answer, repeats };
    if (performance.now() > untilMs)
      throw new Error(`${call.method} ${call.path} got no answer`, { cause: answer });
    await delay(answer instanceof Error ? AGAIN_MS : (answer.retryAfter ?? 0) * 1_000 || AGAIN_MS);
  }
}

async function once(port: number, { method, path, token, body }: Call) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(CALL_MS),
  });
  const { data, error } = (await response.json()) as {
    readonly data?: unknown;
    readonly error?: { readonly code: string; readonly retryAfter?: number };
  };
  return { status: response.status, data, code: error?.code, retryAfter: error?.retryAfter };
}
