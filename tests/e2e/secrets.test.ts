/** Keys, credentials and message texts stand nowhere but where they belong. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { type ServiceStack, startServiceStack } from './service-stack.ts';
import { connectShop, sendText, untilStatus } from './shop-steps.ts';

const SHOP_PHONE = '+33611110005';
const CUSTOMER = '+33622220005';
const OUTBOUND = 'outbound words nobody else may read';
const INBOUND = 'inbound words nobody else may read';
/** Names of fields in the client's credentials and ratchets; sealed, none of them can be read. */
const CREDENTIAL_FIELDS = [
  'noiseKey',
  'signedIdentityKey',
  'privKey',
  'advSecretKey',
  'registrationId',
  '_sessions',
];

let stack: ServiceStack;
let redis: Redis;
before(async () => {
  stack = await startServiceStack({ logLevel: 'trace' });
  redis = new Redis(stack.redis.url);
  await redis.config('SET', 'rdbcompression', 'no');
  await connectShop(stack, stack.shopId, SHOP_PHONE);
  const sent = await sendText(stack, stack.shopId, { to: CUSTOMER, text: OUTBOUND, idempotencyKey: 'key' });
  await untilStatus(stack, String(sent.data.id), 'sent');
  await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: INBOUND });
});
after(async () => {
  redis.disconnect();
  await stack.stop();
});

/** The keys whose content holds a text. */
async function holders(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    const dump = await redis.dumpBuffer(key);
    if (dump?.includes(text)) found.push(key);
  }
  return found;
}

test('Redis holds no raw key, no operator token and no credential in the clear', async () => {
  for (const secret of [stack.apiKey, stack.adminToken, stack.credentialsKey, ...CREDENTIAL_FIELDS]) {
    assert.deepEqual(await holders(secret), [], `found ${secret.slice(0, 12)}`);
  }
});

test('Redis holds a message’s text in its record alone, and nothing of what a customer wrote', async () => {
  const where = await holders(OUTBOUND);
  assert.equal(where.length, 1, where.join(' '));
  assert.match(where[0] ?? '', /^\{s\d+\}:message:[0-9a-f]{24}$/);
  assert.deepEqual(await holders(INBOUND), []);
});

test('the log holds no key, token, text or credential, even at its most talkative', () => {
  const log = stack.serviceLog();
  assert.ok(log.length > 0);
  for (const secret of [stack.apiKey, stack.adminToken, stack.credentialsKey, OUTBOUND, INBOUND]) {
    assert.ok(!log.includes(secret), `the log holds ${secret.slice(0, 12)}`);
  }
  for (const field of CREDENTIAL_FIELDS) assert.ok(!log.includes(field), `the log holds ${field}`);
});

test('what operators see holds no text, code, hash or credential', async () => {
  const seen: string[] = [];
  for (const path of [
    '/actors',
    `/actors/${stack.tenantId}/${stack.shopId}`,
    `/tenants/${stack.tenantId}/keys`,
    '/requests',
  ]) {
    const answer = await stack.admin.get(path);
    assert.equal(answer.status, 200, path);
    seen.push(JSON.stringify(answer.data));
  }
  const text = seen.join('\n');
  for (const secret of [stack.apiKey, OUTBOUND, INBOUND, 'hash', ...CREDENTIAL_FIELDS]) {
    assert.ok(!text.includes(secret), `found ${secret.slice(0, 12)}`);
  }
});
