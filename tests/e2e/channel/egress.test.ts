/**
 * Shops whose connections go through real proxies, from the operators' call to the wire: no other way, and no look-up
 * here.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { type EgressProxy, startHttpProxy, startSocksProxy } from '../../testbed/egress-proxies.ts';
import { freePorts } from '../../testbed/free-ports.ts';
import { listening } from '../../testbed/listening.ts';
import { until } from '../../testbed/waiting.ts';
import type { ApiAnswer } from '../stack/api-client.ts';
import { notedLookUps, notingLookUps } from '../stack/noted-look-ups.ts';
import { type SeenConnections, watchConnections } from '../stack/seen-connections.ts';
import { type ServiceStack, startServiceStack } from '../stack/service-stack.ts';
import { connectShop, sendText, sentText, untilStatus } from '../stack/shop-steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'egress-'));
const lookUps = join(folder, 'look-ups');
const CONTENT = '%PDF-1.4 prices';
const files = createServer((_, answer) => {
  answer.writeHead(200, { 'content-type': 'application/pdf' });
  answer.end(CONTENT);
});
/** Enough customers that none gets two messages within ten minutes. */
const CUSTOMERS = Array.from({ length: 20 }, (_, index) => `+336222200${50 + index}`);
let stack: ServiceStack;
let seenConnections: SeenConnections;
let socks: EgressProxy;
let http: EgressProxy;

before(async () => {
  seenConnections = watchConnections();
  socks = await startSocksProxy('127.0.0.8');
  http = await startHttpProxy('127.0.0.9');
  await listening(files);
  stack = await startServiceStack({
    isNamed: true,
    logLevel: 'trace',
    environment: notingLookUps(lookUps),
  });
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: CUSTOMERS });
});
after(async () => {
  await stack?.stop();
  files.close();
  await socks?.kill();
  await http?.kill();
  seenConnections.stop();
  rmSync(folder, { recursive: true, force: true });
});

const setEgress = (shopId: string, egress: string | null): Promise<ApiAnswer> =>
  stack.admin.patch(`/tenants/${stack.tenantId}/shops/${shopId}`, { egress });

interface Details {
  readonly egress: string | null;
  readonly channel: { readonly state: string; readonly generation: number };
}

async function detailsOf(shopId: string): Promise<Details> {
  return (await stack.admin.get(`/actors/${stack.tenantId}/${shopId}`)).data.details as Details;
}

async function newShop(name: string): Promise<string> {
  return String((await stack.api.post('/shops', { name })).data.id);
}

const channelOf = async (shopId: string) => (await stack.api.get(`/shops/${shopId}/channels/msgapp`)).data;

/** Each connection since the last look came from one of these. */
function assertCameFrom(...addresses: readonly string[]): void {
  const taken = seenConnections.take();
  assert.ok(taken.length > 0, 'nobody connected');
  assert.deepEqual([...new Set(taken)].sort(), [...addresses].sort());
}

const PHONES = { socks5: '+33611110051', http: '+33611110052' } as const;
const shops: Record<string, string> = {};

for (const kind of ['socks5', 'http'] as const) {
  test(`a ${kind} proxy carries pairing, sends, attachments and downloads, and nothing goes another way`, async () => {
    const proxy = kind === 'http' ? http : socks;
    const shopId = await newShop(`By ${kind}`);
    shops[kind] = shopId;
    seenConnections.take();
    const set = await setEgress(shopId, proxy.url);
    assert.deepEqual([set.status, set.data], [200, { id: shopId, egress: proxy.shown }]);
    await connectShop(stack, shopId, PHONES[kind]);
    await stack.network.sendHistory(PHONES[kind], { mappings: 3, tokens: 1 });
    const [reader = '', other = ''] = CUSTOMERS.slice(kind === 'http' ? 0 : 2);
    const text = await sendText(stack, shopId, { to: reader, text: 'Your bread is ready' });
    const file = await stack.api.post(`/shops/${shopId}/messages`, {
      channel: 'msgapp',
      to: other,
      mediaUrl: `http://localhost:${(files.address() as AddressInfo).port}/prices.pdf`,
      mediaType: 'document',
    });
    assert.deepEqual([text.status, file.status], [202, 202], JSON.stringify(file));
    for (const { data } of [text, file]) await untilStatus(stack, String(data.id), 'sent');
    await until('the history was read', async () =>
      stack.serviceLog().includes('the phone sent its history'),
    );
    const [file1] = (await stack.network.inbox(other)).items;
    assert.equal(file1?.mediaSha256, createHash('sha256').update(CONTENT).digest('hex'));
    assertCameFrom(proxy.from);
    assert.deepEqual(notedLookUps(lookUps), []);
    assert.equal((await detailsOf(shopId)).egress, proxy.shown);
  });
}

test('an inbound attachment is fetched only through the shop’s proxy', async () => {
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' });
  for (const [kind, to] of Object.entries(PHONES)) {
    const image = { kind: 'image', file: Buffer.from(CONTENT).toString('base64') } as const;
    await stack.network.write(CUSTOMERS[12] ?? '', { to, ...image });
    const { data } = await stack.api.get(`/shops/${shops[kind]}/inbound`);
    const [written] = data.items as { readonly id: string }[];
    seenConnections.take();
    const answer = await fetch(`${stack.apiUrl()}/inbound/${written?.id}/media`, {
      headers: { authorization: `Bearer ${stack.apiKey}` },
    });
    assert.deepEqual([answer.status, await answer.text()], [200, CONTENT]);
    assertCameFrom(kind === 'http' ? http.from : socks.from);
    assert.deepEqual(notedLookUps(lookUps), []);
  }
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'none' });
});

test('a proxy that dies under traffic ends the session as such; messages wait for it, and nothing goes another way', async () => {
  const shopId = shops.socks5 ?? '';
  const [first = '', second = '', third = ''] = CUSTOMERS.slice(4);
  await sentText(stack, shopId, { to: first, text: 'One' });
  const waitingAnswer = await sendText(stack, shopId, { to: second, text: 'Two' });
  await socks.kill();
  seenConnections.take();
  await until('the reason is told', async () => (await channelOf(shopId)).reason === 'EGRESS_UNREACHABLE');
  const laterAnswer = await sendText(stack, shopId, { to: third, text: 'Three' });
  assert.deepEqual([waitingAnswer.status, laterAnswer.status], [202, 202]);
  const answer = await fetch(`${stack.adminUrl()}/metrics`, {
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  const metrics = await answer.text();
  assert.match(metrics, /^msgapi_session_ends_total\{end="egress_unreachable"\} [1-9]/m);
  assert.match(metrics, /^msgapi_shops_in_trouble\{trouble="egress_unreachable"\} 1$/m);
  await until('it was tried again', async () => {
    const { channel } = (await detailsOf(shopId)) as unknown as { channel: { attempts: number } };
    return channel.attempts >= 3;
  });
  assert.deepEqual(seenConnections.take(), []);
  assert.deepEqual(notedLookUps(lookUps), []);
  await socks.start();
  for (const { data } of [waitingAnswer, laterAnswer]) await untilStatus(stack, String(data.id), 'sent');
  assert.equal((await channelOf(shopId)).status, 'connected');
  assertCameFrom(socks.from);
  for (const to of [first, second, third]) assert.equal((await stack.network.inbox(to)).items.length, 1, to);
});

test('a new egress reopens the session, and loses no message in flight', async () => {
  const shopId = shops.socks5 ?? '';
  const { generation } = (await detailsOf(shopId)).channel;
  const customers = CUSTOMERS.slice(7, 11);
  const sentAnswers = await Promise.all(
    customers.map((to) => sendText(stack, shopId, { to, text: `For ${to}` })),
  );
  await untilStatus(stack, String(sentAnswers[0]?.data.id), 'sent');
  seenConnections.take();
  assert.equal((await setEgress(shopId, http.url)).status, 200);
  for (const { data } of sentAnswers) await untilStatus(stack, String(data.id), 'sent');
  for (const to of customers) assert.equal((await stack.network.inbox(to)).items.length, 1, to);
  assertCameFrom(http.from);
  assert.equal((await detailsOf(shopId)).channel.generation, generation + 1);
  // A repeated call tests the egress once more, and changes nothing.
  assert.equal((await setEgress(shopId, http.url)).status, 200);
  assert.equal((await detailsOf(shopId)).channel.generation, generation + 1);
});

test('an egress that makes no connection is not stored, and the field is named without the password', async () => {
  const shopId = shops.http ?? '';
  const [port] = await freePorts(1);
  const deadAnswer = await setEgress(shopId, `socks5://bakery:s3cret@127.0.0.1:${port}`);
  assert.deepEqual([deadAnswer.status, deadAnswer.error?.code], [422, 'EGRESS_UNREACHABLE']);
  assert.deepEqual(deadAnswer.error?.fields, [
    { field: 'egress', message: 'cannot be reached (ECONNREFUSED)' },
  ]);
  const refusedAnswer = await setEgress(shopId, http.url.replace('way-out', 'no-way'));
  assert.deepEqual(refusedAnswer.error?.fields, [
    { field: 'egress', message: 'refuses the user name and password' },
  ]);
  const nonsense = await setEgress(shopId, 'https://bakery:s3cret@127.0.0.1:8443');
  assert.deepEqual(
    [nonsense.error?.code, nonsense.error?.fields?.[0]?.field],
    ['VALIDATION_ERROR', 'egress'],
  );
  assert.equal((await detailsOf(shopId)).egress, http.shown);
  assert.ok(!JSON.stringify([deadAnswer, refusedAnswer, nonsense]).includes('s3cret'));
  assert.ok(!stack.serviceLog().includes('s3cret'));
});

test('an egress outlives a restart, and its password is nowhere in the clear', async () => {
  await stack.end('SIGKILL');
  seenConnections.take();
  await stack.start();
  for (const shopId of Object.values(shops))
    await until('it is back', async () => (await channelOf(shopId)).status === 'connected');
  assertCameFrom(http.from);
  assert.deepEqual(notedLookUps(lookUps), []);
  const { password } = http;
  const redis = new Redis(stack.redis.url);
  for (const key of await redis.keys('*'))
    assert.ok(!(await redis.dumpBuffer(key))?.includes(password), `${key} has the password`);
  redis.disconnect();
  const shownAnswers = await Promise.all(
    ['/audit', '/actors', `/requests?tenantId=${stack.tenantId}`].map((path) => stack.admin.get(path)),
  );
  assert.ok(!JSON.stringify(shownAnswers).includes(password));
  assert.ok(!stack.serviceLog().includes(password));
});

test('without an egress, connections leave from the node, which resolves names itself', async () => {
  const shopId = shops.http ?? '';
  seenConnections.take();
  assert.deepEqual((await setEgress(shopId, null)).data, { id: shopId, egress: null });
  await sentText(stack, shopId, { to: CUSTOMERS[11] ?? '', text: 'By ourselves' });
  assertCameFrom('127.0.0.1');
  assert.ok(notedLookUps(lookUps).includes('localhost'));
});
