/** A batch reaches each recipient's handset once, also when the node is killed in the middle. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';

const SHOP_PHONE = '+33611110001';
/** A number that was connected today may send 10 an hour, of which the batch uses nine tenths. */
const MANY = 6;

const people = Array.from({ length: MANY }, (_, index) => `+3362222100${index}`);
const recipients = people.map((to) => ({ to }));

const stack = sharedStack({ phone: SHOP_PHONE }, () =>
  stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: people }),
);

const path = (rest = ''): string => `/shops/${stack.shopId}/batches${rest}`;

interface ShownBatch {
  readonly id: string;
  readonly status: string;
  readonly progress: { readonly sent: number; readonly waiting: number };
}

async function batch(id: string): Promise<ShownBatch> {
  return (await stack.api.get(path(`/${id}`))).data as unknown as ShownBatch;
}

test('a node is killed in the middle of a batch, and each phone got exactly one message', async () => {
  const { data: now } = await stack.api.get('/events');
  const made = await stack.api.post(path(), {
    name: 'opening hours',
    text: 'Hello {{name}}',
    share: 0.9,
    recipients: [...people, '+33633333333'].map((to) => ({ to, fields: { name: to } })),
    idempotencyKey: 'hours',
  });
  assert.equal(made.status, 201, JSON.stringify(made.error));
  assert.deepEqual(made.data.refused, [{ to: '+33633333333', code: 'COLD_RECIPIENT' }]);
  const { id, forecast } = made.data as unknown as ShownBatch & { forecast: { days: { count: number }[] } };
  assert.equal(
    forecast.days.reduce((sum, { count }) => sum + count, 0),
    MANY,
  );
  const gotMany = async (): Promise<number> => {
    const inboxes = await Promise.all(people.map((phone) => stack.network.inbox(phone)));
    return inboxes.filter(({ items }) => items.length > 0).length;
  };
  await until('some of them have it', async () => (await gotMany()) >= 2, { withinMs: MINUTE_MS });
  await stack.end('SIGKILL');
  await stack.start();
  const end = await until(
    'the batch ends',
    async () => {
      const shown = await batch(id);
      return shown.status === 'finished' && shown;
    },
    { withinMs: 90_000 },
  );
  assert.equal(end.progress.waiting, 0);
  for (const phone of people) {
    const { items } = await stack.network.inbox(phone);
    assert.deepEqual(
      items.map(({ text }) => text),
      [`Hello ${phone}`],
    );
  }
  const told = await stack.api.get(
    `/events?cursor=${now.nextCursor}&types=batch.started,batch.finished,batch.stopped`,
  );
  assert.deepEqual(
    (told.data.items as { type: string }[]).map(({ type }) => type),
    ['batch.started', 'batch.finished'],
  );
  const again = await stack.api.post(path(), {
    name: 'opening hours',
    text: 'Hello {{name}}',
    recipients: [{ to: people[0], fields: { name: 'x' } }],
    idempotencyKey: 'hours',
  });
  assert.deepEqual([again.status, again.data.id], [200, id], JSON.stringify(again.error));
  assert.equal(again.headers.get('x-idempotent-mismatch'), 'true');
});

test('a paused batch is filled, shown to operators, and cancelled by them', async () => {
  const content = { text: 'hi', mediaUrl: 'https://a.example/menu.jpg', idempotencyKey: 'later' };
  const made = await stack.api.post(path(), { name: 'later', ...content, recipients, paused: true });
  assert.equal(made.status, 201, JSON.stringify(made.error));
  const id = String(made.data.id);
  assert.equal(made.headers.get('location'), `/api/v1${path(`/${id}`)}`);
  const twice = await stack.api.post(path(`/${id}/recipients`), { recipients: recipients.slice(0, 1) });
  assert.deepEqual([twice.status, twice.error?.code], [422, 'VALIDATION_ERROR']);
  const [newest] = (await stack.api.get(path())).data.items as ShownBatch[];
  assert.deepEqual([newest?.id, newest?.status], [id, 'paused']);
  const actor = `/actors/${stack.tenantId}/${stack.shopId}/batches`;
  const seen = [
    ...((await stack.admin.get(actor)).data.items as object[]).slice(0, 1),
    (await stack.admin.get(`${actor}/${id}`)).data,
  ];
  const ended = await stack.admin.post(`${actor}/${id}/cancel`, {});
  assert.deepEqual([ended.status, ended.data.status], [200, 'cancelled']);
  for (const shown of [...seen, ended.data]) {
    const { name, text, mediaUrl, mediaType, idempotencyKey } = shown as Record<string, unknown>;
    assert.deepEqual([name, text, mediaUrl, mediaType, idempotencyKey], ['later', null, null, null, null]);
  }
  const resumed = await stack.api.post(path(`/${id}/resume`), {});
  assert.deepEqual([resumed.status, resumed.error?.code], [409, 'BATCH_ENDED']);
});

test('an erased shop leaves nothing of its batches', async (context) => {
  const made = await stack.api.post(path(), { name: 'last', text: 'hi', recipients, paused: true });
  assert.equal(made.status, 201, JSON.stringify(made.error));
  await stack.admin.delete(`/tenants/${stack.tenantId}/shops/${stack.shopId}`);
  const redis = new Redis(stack.redis.url);
  context.after(() => redis.disconnect());
  await until('nothing is left', async () => (await redis.keys('*:batch*')).length === 0);
});
