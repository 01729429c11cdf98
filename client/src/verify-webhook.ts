import type { Event } from './operations.ts';

/** The body of a webhook request: an event, or the operators' test. */
export type WebhookEvent =
  | Event
  | {
      readonly id: string;
      readonly type: 'webhook.test';
      readonly timestamp: string;
      readonly data: Readonly<Record<string, never>>;
    };

/** The request as it came. */
export interface WebhookRequest {
  /** The raw body: a parsed and re-serialized body has another signature. */
  readonly body: string | Uint8Array;
  /** The headers from `fetch` or from Node's `IncomingMessage`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Options of the check. */
export interface WebhookOptions {
  /** `whsec_…`; of several any may have signed, as while a secret is replaced. */
  readonly secret: string | readonly string[];
  /** Longest time between sending and now, either way, in milliseconds; 300,000. It bounds how long a request can be replayed. */
  readonly toleranceMs?: number | undefined;
  /** Milliseconds since the Unix epoch; `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** A request that is not ours, not as it was sent, or too old. The message never holds a secret. */
export class UnverifiedWebhook extends Error {
  override readonly name = 'UnverifiedWebhook';
}

const TOLERANCE_MS = 300_000;
const PREFIX = 'whsec_';

/**
 * The event in a request to your webhook (Standard Webhooks 1.0.0). Rejects with `UnverifiedWebhook`: answer 400 then. An event may
 * come twice: remember its `id`.
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
  if (!/^\d{1,12}$/.test(timestamp)) throw new UnverifiedWebhook('webhook-timestamp is no time');
  if (Math.abs(now() - Number(timestamp) * 1_000) > toleranceMs)
    throw new UnverifiedWebhook('it was sent too long ago, or the clocks differ');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  if (!(await isSigned(signed, keys, signatures)))
    throw new UnverifiedWebhook('no signature fits: another secret, or another body than was sent');
  return JSON.parse(text) as WebhookEvent;
}

async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: string,
): Promise<boolean> {
  const given = signatures.split(' ').flatMap((each) => {
    const [version, text = ''] = each.split(',');
    return version === 'v1' ? (bytesOf(text) ?? []) : [];
  });
  for (const bytes of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    // Compares in constant time.
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  }
  return false;
}

/** The key of a secret. Throws a `TypeError` for one that cannot be one; it does not show it. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : undefined;
  if (key === undefined || key.length === 0) throw new TypeError('secret: whsec_ and base64');
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
