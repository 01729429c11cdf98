/**
 * Sends one message and prints its outcome.
 *
 *   API_KEY=tm_live_… npx tsx examples/send.ts "Demo shop" +33622220001 "Your bread is ready" order-4711
 *
 * The last argument is the idempotency key, one for each intended message. A restart with the same key sends nothing
 * new and continues where it was. Exit code 0: sent; 1: failed, rejected or refused.
 */
import { ApiError } from 'tenant-messaging-client';
import { api } from './api.ts';

const [shop, to, text, idempotencyKey] = process.argv.slice(2);
if (shop === undefined || to === undefined || text === undefined || idempotencyKey === undefined)
  throw new Error('usage: send.ts SHOP NUMBER TEXT IDEMPOTENCY_KEY');

try {
  const sent = await api.sendMessage({ idOrName: shop, channel: 'msgapp', to, text, idempotencyKey });
  console.log(sent.status === 200 ? `replayed ${sent.data.id}` : `accepted ${sent.data.id}`);
  const { status, reason } = await api.waitForMessage(sent.data.id);
  console.log(reason === null ? status : `${status} ${reason}`);
  process.exitCode = status === 'sent' ? 0 : 1;
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  // The next step depends on the code: an opt-out is permanent, and a cap has a time to try again.
  const later = error.retryAfter === undefined ? '' : `; again after ${error.retryAfter} s`;
  console.log(`refused ${error.code}${later}`);
  process.exitCode = 1;
}
