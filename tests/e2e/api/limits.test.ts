/** Caps, windows and quota through the API: exact under concurrency, and the same after a kill. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PERMISSIONS } from '../../../actors/permission.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../stack/api-client.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110006';
const phone = (index: number): string => `+3363${String(index).padStart(7, '0')}`;

const stack = sharedStack({ phone: SHOP_PHONE }, async () => {
  const phones = Array.from({ length: 100 }, (_, index) => phone(index));
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones });
});

async function keyWith(
  limits: { minute: number; hour: number; day: number },
  tenantId = stack.tenantId,
): Promise<ApiClient> {
  const createdAnswer = await stack.admin.post(`/tenants/${tenantId}/keys`, {
    name: 'k',
    permissions: PERMISSIONS,
    limits,
  });
  return apiClient(() => stack.apiUrl(), String(createdAnswer.data.key));
}

function codes(answers: readonly ApiAnswer[]): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const { status, error } of answers) {
    const name = error?.code ?? String(status);
    counted[name] = (counted[name] ?? 0) + 1;
  }
  return counted;
}

test('a minute’s limit of 20 accepts exactly 20 of 50 concurrent calls, and names the time to retry', async () => {
  const api = await keyWith({ minute: 20, hour: 1_000, day: 10_000 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => api.get('/me')));
  assert.deepEqual(codes(answers), { 200: 20, RATE_LIMITED: 30 });
  const refusedAnswer = answers.find(({ status }) => status === 429);
  assert.equal(refusedAnswer?.headers.get('x-ratelimit-scope'), 'minute');
  assert.equal(refusedAnswer?.headers.get('x-ratelimit-limit'), '20');
  assert.equal(refusedAnswer?.headers.get('x-ratelimit-remaining'), '0');
  assert.equal(refusedAnswer?.headers.get('retry-after'), String(refusedAnswer?.error?.retryAfter));
  assert.ok((refusedAnswer?.error?.retryAfter ?? 0) > 0 && (refusedAnswer?.error?.retryAfter ?? 0) <= 60);
});

test('an hourly cap of 10 lets exactly 10 of 16 concurrent sends through, also after a kill', async (context) => {
  const sends = (from: number, count: number): Promise<ApiAnswer[]> =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        sendText(stack, stack.shopId, { to: phone(from + index), text: `bread ${from + index}` }),
      ),
    );
  assert.deepEqual(codes(await sends(0, 16)), { 202: 10, HOURLY_CAP_REACHED: 6 });
  await stack.end('SIGKILL');
  await stack.start();
  const [refusedAnswer] = await sends(20, 1);
  assert.equal(refusedAnswer?.error?.code, 'HOURLY_CAP_REACHED');
  const seconds = refusedAnswer?.error?.retryAfter ?? 0;
  assert.ok(seconds > 3_400 && seconds <= 3_600, `retryAfter ${seconds}`);
  await context.test(
    'a second send to a recipient within ten minutes is RECIPIENT_RATE_LIMITED before any cap',
    async () => {
      const second = await sendText(stack, stack.shopId, { to: phone(0), text: 'once more' });
      assert.equal(second.error?.code, 'RECIPIENT_RATE_LIMITED');
      assert.ok((second.error?.retryAfter ?? 0) <= 600);
    },
  );
});

test('GET policy returns the result of the next send, and costs no send', async () => {
  const { data: shop } = await stack.api.post('/shops', { name: 'Asks first' });
  const id = String(shop.id);
  const to = phone(90);
  const forecast = async () => (await stack.api.get(`/shops/${id}/policy?to=${encodeURIComponent(to)}`)).data;
  const before = await forecast();
  assert.deepEqual([before.wouldAllow, before.code], [false, 'MSGAPP_NOT_CONNECTED']);
  await connectShop(stack, id, '+33611110008');
  const { recipientClass, wouldAllow, code, retryAfter, usage } = await forecast();
  assert.deepEqual([recipientClass, wouldAllow, code, retryAfter], ['known', true, null, null]);
  assert.deepEqual(usage, { today: 0, lastHour: 0, coldToday: 0, declaredToday: 0 });
  assert.equal((await sendText(stack, id, { to, text: 'bread' })).status, 202);
  const after = await forecast();
  assert.deepEqual([after.wouldAllow, after.code], [false, 'RECIPIENT_RATE_LIMITED']);
  assert.ok(Number(after.retryAfter) > 500 && Number(after.retryAfter) <= 600);
  assert.equal((after.usage as { today: number }).today, 1);
});

test('the free plan’s 1,000 calls of a month, then 429 QUOTA_EXCEEDED, but for GET /me; a restart forgets nothing', async () => {
  const tenant = await stack.admin.post('/tenants', { name: 'Small', plan: 'free' });
  const limits = { minute: 100_000, hour: 100_000, day: 100_000 };
  const api = await keyWith(limits, String(tenant.data.id));
  const answers: ApiAnswer[] = [];
  for (let batch = 0; batch < 21; batch += 1)
    answers.push(...(await Promise.all(Array.from({ length: 50 }, () => api.get('/shops')))));
  assert.deepEqual(codes(answers), { 200: 1_000, QUOTA_EXCEEDED: 50 });
  await stack.end('SIGTERM');
  await stack.start();
  assert.equal((await api.get('/shops')).error?.code, 'QUOTA_EXCEEDED');
  const spent = await api.get('/me');
  assert.equal(spent.status, 200);
  const { used, remaining } = (spent.data.quota as { api_calls: { used: number; remaining: number } })
    .api_calls;
  assert.deepEqual([used, remaining], [1_001, 0]);
  await stack.admin.patch(`/tenants/${String(tenant.data.id)}`, { plan: 'starter' });
  assert.equal((await api.get('/shops')).status, 200);
});

test('an Idempotency-Key returns its original after a kill, and nothing is made again', async () => {
  const headers = { 'idempotency-key': 'before the kill' };
  const shop = () => stack.api.post('/shops', { name: 'Made once' }, headers);
  const status = () => stack.api.post(`/shops/${stack.shopId}/statuses`, { caption: 'Once' }, headers);
  const [madeShop, madeStatus] = [await shop(), await status()];
  assert.deepEqual([madeShop.status, madeStatus.status], [201, 202]);
  await stack.end('SIGKILL');
  await stack.start();
  const [shopAgain, statusAgain] = [await shop(), await status()];
  assert.deepEqual([shopAgain.status, statusAgain.status], [200, 200]);
  assert.deepEqual([shopAgain.data.id, statusAgain.data.id], [madeShop.data.id, madeStatus.data.id]);
});

test('a setting out of its range is refused with the range; one within it counts for the next send', async () => {
  const path = `/tenants/${stack.tenantId}`;
  const refused = await stack.admin.patch(path, { settings: { declaredPerDay: 201 } });
  assert.deepEqual([refused.status, refused.error?.code], [422, 'VALIDATION_ERROR']);
  assert.match(JSON.stringify(refused.error), /settings\.declaredPerDay.*0.*200/);
  const { data: shop } = await stack.api.post('/shops', { name: 'One status' });
  await connectShop(stack, String(shop.id), '+33611110009');
  await stack.admin.patch(path, { settings: { statusesPerDay: 1 } });
  const first = await stack.api.post(`/shops/${shop.id}/statuses`, { caption: 'Open' });
  const second = await stack.api.post(`/shops/${shop.id}/statuses`, { caption: 'Still open' });
  assert.deepEqual([first.status, second.error?.code], [202, 'STATUSES_DAILY_CAP_REACHED']);
});

test('a cap that no wait lifts answers with a day, and with a message that explains it', async () => {
  const { data: shop } = await stack.api.post('/shops', { name: 'No declared' });
  const id = String(shop.id);
  await connectShop(stack, id, '+33611110007');
  const to = '+33655500001';
  await stack.api.post(`/shops/${id}/contacts/consented`, { contacts: [{ phone: to }] });
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { settings: { declaredPerDay: 0 } });
  const refused = await sendText(stack, id, { to, text: 'none at all' });
  assert.deepEqual(
    [refused.status, refused.error?.code, refused.error?.retryAfter, refused.headers.get('retry-after')],
    [429, 'DECLARED_RECIPIENT_CAP_REACHED', 86_400, '86400'],
  );
  assert.match(String(refused.error?.message), /Waiting does not lift this\.$/);
});

test('a rotated key’s old values and a revoked key stop with the call that ends them', async () => {
  const made = await stack.admin.post(`/tenants/${stack.tenantId}/keys`, { name: 'r', permissions: [] });
  const keyPath = `/tenants/${stack.tenantId}/keys/${String(made.data.id)}`;
  const first = apiClient(() => stack.apiUrl(), String(made.data.key));
  const rotated = await stack.admin.post(`${keyPath}/rotate`);
  const second = apiClient(() => stack.apiUrl(), String(rotated.data.key));
  const rotatedAgain = await stack.admin.post(`${keyPath}/rotate`);
  const fresh = apiClient(() => stack.apiUrl(), String(rotatedAgain.data.key));
  for (const old of [first, second]) assert.equal((await old.get('/me')).error?.code, 'API_KEY_REVOKED');
  assert.equal((await fresh.get('/me')).status, 200);
  await stack.admin.delete(keyPath);
  await stack.end('SIGKILL');
  await stack.start();
  for (const ended of [first, second, fresh])
    assert.equal((await ended.get('/me')).error?.code, 'API_KEY_REVOKED');
});
