/** A scheduled send becomes one message at its time, also when the node is killed before it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { DAY_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
const OTHER_CUSTOMER = '+33622220002';

const stack = sharedStack({ phone: SHOP_PHONE });

const path = (id = ''): string => `/shops/${stack.shopId}/scheduled${id && `/${id}`}`;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

test('a send is scheduled, listed, shown and cancelled; its times are checked', async () => {
  const body = { channel: 'msgapp', to: CUSTOMER, text: 'later', idempotencyKey: 'one' };
  const createdAnswer = await stack.api.post(path(), { ...body, sendAt: inMs(DAY_MS) });
  assert.deepEqual(
    [createdAnswer.status, createdAnswer.data.status],
    [201, 'scheduled'],
    JSON.stringify(createdAnswer.error),
  );
  const id = String(createdAnswer.data.id);
  assert.equal(createdAnswer.headers.get('location'), `/api/v1/shops/${stack.shopId}/scheduled/${id}`);
  const otherAnswer = await stack.api.post(path(), {
    ...body,
    text: 'now',
    sendAt: String(createdAnswer.data.sendAt),
  });
  assert.deepEqual([otherAnswer.data.id, otherAnswer.headers.get('x-idempotent-mismatch')], [id, 'true']);
  const repeatedAnswer = await stack.api.post(path(), { ...body, sendAt: String(createdAnswer.data.sendAt) });
  assert.deepEqual([repeatedAnswer.status, repeatedAnswer.data.id], [200, id]);
  assert.equal(repeatedAnswer.headers.get('x-idempotent-mismatch'), null);
  const { data } = await stack.api.get(path());
  assert.deepEqual(
    (data.items as { id: string }[]).map((item) => item.id),
    [id],
  );
  assert.equal((await stack.api.get(path(id))).data.text, 'later');
  const late = await stack.api.post(path(), { ...body, idempotencyKey: 'two', sendAt: inMs(-1_000) });
  assert.deepEqual([late.status, late.error?.code], [422, 'VALIDATION_ERROR']);
  const endedAnswer = await stack.api.delete(path(id));
  assert.deepEqual(
    [endedAnswer.status, endedAnswer.data.status, endedAnswer.data.text],
    [200, 'cancelled', null],
  );
  assert.deepEqual(
    (await stack.api.delete(path(id))).data,
    endedAnswer.data,
    'cancelled again it answers the same',
  );
  assert.equal((await stack.api.get(path(id))).data.status, 'cancelled');
  assert.deepEqual((await stack.api.get(path())).data.items, []);
  const missingAnswer = await stack.api.get(path('65f000000000000000000001'));
  assert.deepEqual([missingAnswer.status, missingAnswer.error?.code], [404, 'SCHEDULED_NOT_FOUND']);
});

test('operators see what waits without its text, and cancel it', async () => {
  const body = { channel: 'msgapp', to: CUSTOMER, text: 'words of a tenant', sendAt: inMs(DAY_MS) };
  const id = String((await stack.api.post(path(), body)).data.id);
  const actor = `/actors/${stack.tenantId}/${stack.shopId}/scheduled`;
  const { data } = await stack.admin.get(actor);
  assert.deepEqual(
    (data.items as { id: string; to: string }[]).map((item) => [item.id, item.to]),
    [[id, CUSTOMER]],
  );
  assert.ok(!JSON.stringify(data).includes('words of a tenant'));
  const endedAnswer = await stack.admin.delete(`${actor}/${id}`, {});
  assert.deepEqual(
    [endedAnswer.status, endedAnswer.data.status],
    [200, 'cancelled'],
    JSON.stringify(endedAnswer.error),
  );
  assert.deepEqual((await stack.admin.get(actor)).data.items, []);
});

test('more scheduled sends of one moment than a turn tries are all tried then', async () => {
  const { data: now } = await stack.api.get('/events');
  const times = { sendAt: inMs(3_000), notAfter: inMs(10_000) };
  for (let count = 0; count < 17; count += 1) {
    const body = { channel: 'msgapp', to: OTHER_CUSTOMER, text: `table ${count}`, ...times };
    const createdAnswer = await stack.api.post(path(), body);
    assert.equal(createdAnswer.status, 201, JSON.stringify(createdAnswer.error));
  }
  const since = `/events?cursor=${now.nextCursor}&types=scheduled.accepted,scheduled.refused`;
  const codes = await until(
    'all have ended',
    async () => {
      const { items = [] } = (await stack.api.get(since)).data as { items?: { data: { code?: string } }[] };
      return items.length === 17 && items.map(({ data }) => data.code ?? 'none');
    },
    { everyMs: 500, withinMs: 20_000 },
  );
  // One is sent, and its recipient's limit refuses the others.
  assert.deepEqual(codes.sort(), [...Array(16).fill('RECIPIENT_RATE_LIMITED'), 'none']);
});

test('a scheduled send is sent once at its time, although the node was killed meanwhile', async () => {
  const { data: now } = await stack.api.get('/events');
  const body = { channel: 'msgapp', to: CUSTOMER, text: 'Your table is ready', sendAt: inMs(3_000) };
  const createdAnswer = await stack.api.post(path(), body);
  assert.equal(createdAnswer.status, 201, JSON.stringify(createdAnswer.error));
  await stack.end('SIGKILL');
  await stack.start();
  const id = String(createdAnswer.data.id);
  const end = await until(
    'the scheduled send ends',
    async () => {
      const { data } = await stack.api.get(path(id));
      return data.status !== 'scheduled' && data.status !== undefined && data;
    },
    { withinMs: 90_000 },
  );
  assert.equal(end.status, 'accepted', JSON.stringify(end));
  await untilStatus(stack, String(end.messageId), 'sent');
  const { items } = await stack.network.inbox(CUSTOMER);
  assert.deepEqual(
    items.map(({ text }) => text),
    ['Your table is ready'],
  );
  const told = await stack.api.get(`/events?cursor=${now.nextCursor}&types=scheduled.accepted`);
  assert.deepEqual(
    (told.data.items as { data: object }[]).map(({ data }) => data),
    [{ shopId: stack.shopId, id, messageId: end.messageId }],
  );
});

test('an erased shop leaves nothing of what it had scheduled', async (context) => {
  const body = { channel: 'msgapp', to: CUSTOMER, text: 'never', sendAt: inMs(DAY_MS) };
  await stack.api.post(path(), { ...body, idempotencyKey: 'three' });
  await stack.admin.delete(`/tenants/${stack.tenantId}/shops/${stack.shopId}`);
  const redis = new Redis(stack.redis.url);
  context.after(() => redis.disconnect());
  await until('nothing is left', async () => (await redis.keys('*scheduled*')).length === 0);
});
