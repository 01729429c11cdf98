import type { Write } from '../../../runtime/store.ts';
import type { WebhookAttempt } from './webhook-record.ts';

/** The minimum number of attempts kept, of all endpoints of a tenant. */
export const ATTEMPTS_KEPT = 2_000;

/** An attempt as its entry has it. The shop has a field of its own, by which entries are erased. */
export type AttemptOfShop = Omit<WebhookAttempt, 'shopId'>;

/** An entry of the stream as Redis returns it. */
type Entry = readonly [id: string, fields: readonly string[]];

/** Returns the write that adds an attempt to a tenant's stream of attempts. */
export function writeOfAttempt(key: string, webhookId: string, attempt: WebhookAttempt): Write {
  const { shopId, ...attemptOfShop } = attempt;
  const fields = ['w', webhookId, 'a', JSON.stringify(attemptOfShop), 's', shopId];
  return ['XADD', key, 'MAXLEN', '~', ATTEMPTS_KEPT, '*', ...fields];
}

/** Returns the id of the endpoint that an entry is about. */
export function webhookIdOf([, fields]: Entry): string | undefined {
  return fields[1];
}

/** Reads an entry back. */
export function decodeAttempt([, fields]: Entry): AttemptOfShop {
  return JSON.parse(fields[3] ?? '') as AttemptOfShop;
}
