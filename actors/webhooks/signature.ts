import { createHmac, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

/** Returns a new signing secret, as Standard Webhooks 1.0.0 writes it: `whsec_` and 32 random bytes in base64. */
export function makeSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** The signed parts: the message's id, its time of sending (Unix seconds) and its body. */
export interface SignedDelivery {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/** Returns the header `webhook-signature` of Standard Webhooks 1.0.0: one signature a secret, the newest first. */
export function signatures({ id, timestamp, body }: SignedDelivery, secrets: readonly string[]): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
