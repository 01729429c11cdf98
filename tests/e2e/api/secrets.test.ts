/** Keys, credentials and message texts stand nowhere but where they belong. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { PERMISSIONS } from '../../../actors/permission.ts';
import { tenantAddress, tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { HOUR_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { apiClient } from '../stack/api-client.ts';
import { startFleet } from '../stack/fleet.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, sentText } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110005';
const CUSTOMER = '+33622220005';
const OUTBOUND = 'outbound words nobody else may read';
const INBOUND = 'inbound words nobody else may read';
const POISON = 'words in a command that made its actor throw';
/** Names of fields in the client's credentials and ratchets; sealed, none of them can be read. */
const CREDENTIAL_FIELDS = [
  'noiseKey',
  'signedIdentityKey',
  'privKey',
  'advSecretKey',
  'registrationId',
  '_sessions',
];

let redis: Redis;
after(() => redis.disconnect());
const stack = sharedStack({ logLevel: 'trace' }, async () => {
  redis = new Redis(stack.redis.url);
  await connectShop(stack, stack.shopId, SHOP_PHONE);
  await sentText(stack, stack.shopId, { to: CUSTOMER, text: OUTBOUND, idempotencyKey: 'key' });
  await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: INBOUND });
  await poisonedSend();
});

/** Makes a shop of another tenant throw on a send, by a declaration that cannot be read. */
async function poisonedSend(): Promise<void> {
  const account = await makeAccount(stack.admin, 'Poisoned');
  const { contacts } = tenantKeys(account.tenantId);
  await redis.hset(contacts, CUSTOMER, 'not a record');
  const api = apiClient(stack.apiUrl, account.apiKey);
  const refusedAnswer = await sendText({ api }, account.shopId, { to: CUSTOMER, text: POISON });
  assert.equal(refusedAnswer.status, 500, JSON.stringify(refusedAnswer));
  const { shard } = tenantAddress(account.tenantId);
  await until('the dead letter', async () => (await redis.zcard(`{s${shard}}:dead-letters`)) === 1);
}

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
  const hook = await stack.admin.post(`/tenants/${stack.tenantId}/webhooks`, { url: 'https://192.0.2.1/' });
  assert.equal(hook.error?.code, 'VALIDATION_ERROR');
  const createdAnswer = await stack.admin.post(`/tenants/${stack.tenantId}/webhooks`, {
    url: 'http://127.0.0.1:9/',
  });
  const signing = String(createdAnswer.data.secret).slice('whsec_'.length);
  assert.equal(Buffer.from(signing, 'base64').length, 32);
  const tokens = [stack.apiKey, stack.adminToken, stack.credentialsKey, signing];
  for (const secret of [...tokens, ...CREDENTIAL_FIELDS])
    assert.deepEqual(await holders(secret), [], `found ${secret.slice(0, 12)}`);
});

test('Redis has a message’s text in its record alone, and no text of a customer', async () => {
  const places = await holders(OUTBOUND);
  assert.equal(places.length, 1, places.join(' '));
  assert.match(places[0] ?? '', /^\{s\d+\}:messages:\d+$/);
  assert.deepEqual(await holders(INBOUND), []);
});

test('Redis holds the texts of a batch and a scheduled send only in their own records', async () => {
  const text = 'batched words nobody else may read';
  const field = 'a field nobody else may read';
  const later = 'later words nobody else may read';
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [CUSTOMER] });
  const recipients = [{ to: CUSTOMER, fields: { field } }];
  const asked = { name: 'news', text: `${text} {{field}}`, recipients, paused: true, idempotencyKey: 'news' };
  const createdAnswer = await stack.api.post(`/shops/${stack.shopId}/batches`, asked);
  assert.equal(createdAnswer.status, 201, JSON.stringify(createdAnswer.error));
  const sendAt = new Date(Date.now() + HOUR_MS).toISOString();
  const schedule = { channel: 'msgapp', to: CUSTOMER, text: later, sendAt, idempotencyKey: 'later' };
  const scheduledAnswer = await stack.api.post(`/shops/${stack.shopId}/scheduled`, schedule);
  assert.equal(scheduledAnswer.status, 201, JSON.stringify(scheduledAnswer.error));
  const ownPattern = new RegExp(`^\\{s\\d+\\}:shop:${stack.shopId}:batch:${createdAnswer.data.id}$`);
  for (const words of [text, field]) {
    const places = await holders(words);
    assert.equal(places.length, 1, places.join(' '));
    assert.match(places[0] ?? '', ownPattern);
  }
  const places = await holders(later);
  assert.equal(places.length, 1, places.join(' '));
  assert.match(places[0] ?? '', /:scheduled/);
});

test('a dead letter shows operators kind, ids and cause, and no one the text', async () => {
  const { data } = await stack.admin.get('/dead-letters');
  const [letter] = data.items as Record<string, string>[];
  assert.deepEqual([letter?.command, letter?.actor?.split('/')[0]], ['send', 'shop']);
  assert.match(letter?.cause ?? '', /^SyntaxError at /);
  assert.ok(!JSON.stringify(data).includes(POISON));
  assert.deepEqual(await holders(POISON), []);
});

test('messages between nodes over Redis hold no raw key and no text', async (context) => {
  const fleet = await startFleet({ nodes: 2 });
  const [server] = fleet.servers;
  assert.ok(server);
  const spy = new Redis(server.url);
  context.after(async () => {
    spy.disconnect();
    await fleet.stop();
  });
  let asked = 0;
  const heard: string[] = [];
  spy.on('pmessage', (_pattern, _channel, message) => {
    if (message.startsWith('ask ')) asked += 1;
    heard.push(message);
  });
  await spy.psubscribe('*');
  const raw: string[] = [];
  for (const name of ['One', 'Two', 'Three', 'Four']) {
    const { tenantId, apiKey, shopId } = await makeAccount(fleet.admin, name);
    raw.push(apiKey);
    for (const node of fleet.nodes) {
      const createdAnswer = await node.admin.post(`/tenants/${tenantId}/keys`, {
        name: node.nodeId,
        permissions: PERMISSIONS,
        limits: { minute: 60, hour: 600, day: 6_000 },
      });
      assert.equal(createdAnswer.status, 201, JSON.stringify(createdAnswer.error));
      raw.push(String(createdAnswer.data.key));
      await sendText({ api: node.api(apiKey) }, shopId, { to: CUSTOMER, text: OUTBOUND });
    }
  }
  // One node of two owns a tenant, so half of these went through the other.
  assert.ok(asked >= 4, `${asked} questions`);
  for (const secret of [...raw, OUTBOUND, CUSTOMER])
    assert.ok(!heard.some((message) => message.includes(secret)), `heard ${secret.slice(0, 12)}`);
});

test('the log holds no key, token, text or credential, even at its lowest level', () => {
  const log = stack.serviceLog();
  assert.ok(log.length > 0);
  for (const secret of [stack.apiKey, stack.adminToken, stack.credentialsKey, OUTBOUND, INBOUND, POISON])
    assert.ok(!log.includes(secret), `the log holds ${secret.slice(0, 12)}`);
  for (const field of CREDENTIAL_FIELDS) assert.ok(!log.includes(field), `the log holds ${field}`);
});

test('the operators’ views hold no text, code, hash or credential', async () => {
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
  for (const secret of [stack.apiKey, OUTBOUND, INBOUND, 'hash', ...CREDENTIAL_FIELDS])
    assert.ok(!text.includes(secret), `found ${secret.slice(0, 12)}`);
});
