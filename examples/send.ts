/**
 * Sends one message and says what became of it.
 *
 *   API_KEY=tm_live_… npx tsx examples/send.ts "Demo shop" +33622220001 "Your bread is ready" order-4711
 *
 * The last argument is the idempotency key, one for each intended message: started again with the same one the program
 * sends nothing new and goes on where it was. Exit code 0: sent; 1: failed, rejected or refused.
 */
import { ApiError, callAgain } from './api.ts';
import { followMessage } from './follow.ts';

const [shop, to, text, idempotencyKey] = process.argv.slice(2);
if (shop === undefined || to === undefined || text === undefined || idempotencyKey === undefined) {
  throw new Error('usage: send.ts SHOP NUMBER TEXT IDEMPOTENCY_KEY');
}

try {
  const { status, data } = await callAgain<{ id: string }>(
    'POST',
    `/shops/${encodeURIComponent(shop)}/messages`,
    { channel: 'msgapp', to, text, idempotencyKey },
  );
  console.log(status === 200 ? `replayed ${data.id}` : `accepted ${data.id}`);
  process.exitCode = (await followMessage(data.id)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  // What a program does next depends on the code: an opt-out is for good, a cap says when to come again.
  const later = error.retryAfterSeconds === undefined ? '' : `; again after ${error.retryAfterSeconds} s`;
  console.log(`refused ${error.code}${later}`);
  process.exitCode = 1;
}
