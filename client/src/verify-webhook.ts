import type { Event } from './operations.ts';

/** The body of a webhook request: an event, or a test. */
export type WebhookEvent =
  | Event
  | {
      readonly id: string;
      readonly type: 'webhook.test';
      readonly timestamp: string;
      readonly data: Readonly<Record<string, never>>;
    };

/** The request as it arrived. */
export interface WebhookRequest {
  /** The raw body. A body that was parsed and serialized again has another signature. */
  readonly body: string | Uint8Array;
  /** The headers from `fetch` or from Node's `IncomingMessage`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Options of the check. */
export interface WebhookOptions {
  /** `whsec_…`. Give several while you replace a secret: each of them counts. */
  readonly secret: string | readonly string[];
  /**
   * The largest difference between the time of sending and now, in milliseconds. By default 300,000. Older requests may
   * be replays.
   */
  readonly toleranceMs?: number | undefined;
  /** Returns milliseconds since the Unix epoch. By default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** A request that another sender made, that was changed, or that is too old. The message never contains a secret. */
export class UnverifiedWebhook extends Error {
  override readonly name = 'UnverifiedWebhook';
}

const TOLERANCE_MS = 300_000;
const PREFIX = 'whsec_';

/**
 * Returns the event of a request to your webhook (Standard Webhooks 1.0.0). If it rejects with `UnverifiedWebhook`,
 * answer 400. An event may come twice: remember its `id`.
 */
export async function verifyWebhook(
  { body, headers }: WebhookRequest,
  { secret, toleranceMs = TOLERANCE_MS, now = Date.now }: WebhookOptions,
): Promise<WebhookEvent> {
  const keys = [secret].flat().map(keyOf);
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined)
    throw new UnverifiedWebhook('a header webhook-id, webhook-timestamp or webhook-signature is missing');
  if (!/^\d{1,12}$/.test(timestamp))
    throw new UnverifiedWebhook('webhook-timestamp is not a number of seconds');
  if (Math.abs(now() - Number(timestamp) * 1_000) > toleranceMs)
    throw new UnverifiedWebhook('it was sent too long ago, or the clocks differ');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signedBytes = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  if (!(await isSigned(signedBytes, keys, signatures)))
    throw new UnverifiedWebhook('no signature is valid: the secret or the body is another one');
  return JSON.parse(text) as WebhookEvent;
}

async function isSigned(
  signedBytes: Uint8Array<ArrayBuffer>,
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: string,
): Promise<boolean> {
  const givenSignatures = signatures.split(' ').flatMap((each) => {
    const [version, text = ''] = each.split(',');
    return version === 'v1' ? (bytesOf(text) ?? []) : [];
  });
  for (const bytes of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    // Compares in constant time.
    for (const signature of givenSignatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signedBytes)) return true;
  }
  return false;
}

/** Returns the key of a secret. Throws a `TypeError` for an invalid secret, without the secret in its text. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : undefined;
  if (key === undefined || key.length === 0) throw new TypeError('secret must be whsec_ followed by base64');
  return key;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function headerOf(headers: WebhookRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : undefined;
}
