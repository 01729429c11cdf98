import { HOUR_MS } from '../../runtime/durations.ts';
import { type AddressGuard, ForbiddenAddress } from '../outbound/address-guard.ts';
import { guardedRequest } from '../outbound/guarded-request.ts';
import type { ResolveAll } from '../outbound/name-lookup.ts';
import { type SignedDelivery, signatures } from './signature.ts';

/** How long an endpoint may take to answer. */
const ENDPOINT_ANSWER_MS = 15_000;
/** The longest hold that an endpoint may ask for. */
const MOST_HOLD_MS = 10 * HOUR_MS;

export interface DeliveryOptions {
  readonly guard: AddressGuard;
  readonly resolve: ResolveAll;
  /** Certificates of authorities to trust instead of the system's; for tests. */
  readonly ca?: string;
}

/** The answer of an endpoint. */
export interface DeliveryResult {
  /** Null if no response came. */
  readonly status: number | null;
  /** The reason of a failure, without the address. Null on success. */
  readonly error: string | null;
  /** The hold that a 429 or 503 asks for with `Retry-After`, in milliseconds. Null if it asks for none. */
  readonly holdMs: number | null;
}

/**
 * Sends one event to an endpoint, signed. 2xx within 15 s is success; a redirect is not followed. Only allowed
 * addresses and ports are used, and the connection goes to the checked address. Never rejects.
 */
export async function deliver(
  url: string,
  { secrets, ...signedParts }: SignedDelivery & { readonly secrets: readonly string[] },
  options: DeliveryOptions,
): Promise<DeliveryResult> {
  const signal = AbortSignal.timeout(ENDPOINT_ANSWER_MS);
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'tenant-messaging-webhooks/1',
      'content-length': Buffer.byteLength(signedParts.body),
      'webhook-id': signedParts.id,
      'webhook-timestamp': String(signedParts.timestamp),
      'webhook-signature': signatures(signedParts, secrets),
    };
    const { guard, resolve, ca } = options;
    const answer = await guardedRequest(
      new URL(url),
      { guard, resolve, signal },
      {
        method: 'POST',
        headers,
        body: signedParts.body,
        ...(ca === undefined ? {} : { ca }),
      },
    );
    const status = answer.statusCode ?? 0;
    const holdMs =
      status === 429 || status === 503
        ? holdOf(answer.headers['retry-after'], signedParts.timestamp * 1_000)
        : null;
    // Only the status counts; the body is not read.
    answer.destroy();
    return {
      status,
      error: status >= 200 && status < 300 ? null : `the endpoint answered ${status}`,
      holdMs,
    };
  } catch (error) {
    return { status: null, error: causeOf(error, signal), holdMs: null };
  }
}

/**
 * Returns `Retry-After` in milliseconds, from seconds or a date (RFC 9110, 10.2.3). Null if it names no future time.
 */
function holdOf(retryAfter: string | undefined, nowMs: number): number | null {
  if (retryAfter === undefined) return null;
  const seconds = Number(retryAfter);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MOST_HOLD_MS) : null;
}

function causeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'the endpoint did not answer within 15 seconds';
  if (error instanceof ForbiddenAddress) return 'the endpoint is not at a public address and port 443';
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return `the endpoint could not be reached${code === undefined ? '' : ` (${code})`}`;
}
