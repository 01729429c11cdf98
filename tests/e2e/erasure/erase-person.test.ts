/** Somebody who wrote is erased from all shops of a tenant, and their STOP holds all the same. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { until } from '../../testbed/waiting.ts';
import { erase } from '../stack/erase.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sendText, untilStatus } from '../stack/shop-steps.ts';
import { tracesIn } from '../stack/traces.ts';

const PHONES = ['+33611110071', '+33611110072'] as const;
const ANA = '+33622220071';
const BEA = '+33622220072';
const NAME = `Contact ${ANA.slice(1)}`;

let redis: Redis;
let shops: readonly string[];
after(() => redis?.disconnect());
const stack = sharedStack({}, async () => {
  redis = new Redis(stack.redis.url);
  const second = String((await stack.api.post('/shops', { name: 'Second' })).data.id);
  shops = [stack.shopId, second];
  await connectShop(stack, stack.shopId, PHONES[0]);
  await connectShop(stack, second, PHONES[1]);
  await stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound: 'texts' });
});

type Told = Readonly<Record<string, unknown>>;

async function listed(): Promise<Told[]> {
  const lists = await Promise.all(shops.map((id) => stack.api.get(`/shops/${id}/inbound`)));
  return lists.flatMap(({ data }) => data.items as Told[]);
}

const events = async (): Promise<{ readonly type: string; readonly data: Told }[]> =>
  (await stack.api.get(`/events?cursor=${'0'.repeat(24)}&limit=100`)).data.items as {
    type: string;
    data: Told;
  }[];

const personPath = (personId: unknown): string => `/tenants/${stack.tenantId}/people/${personId}`;

/** The id of the person who wrote; it is equal in both shops. */
async function writeToBoth(from: string): Promise<string> {
  for (const [index, to] of PHONES.entries()) await stack.network.write(from, { to, text: `Hello ${index}` });
  const ids = (await listed()).filter((each) => each.from === from).map(({ fromId }) => fromId);
  assert.deepEqual([ids.length, new Set(ids).size], [2, 1]);
  return String(ids[0]);
}

test('messages from the person are gone from lists, events and Redis, and messages to them have no text', async (context) => {
  const [ana, bea] = [await writeToBoth(ANA), await writeToBoth(BEA)];
  const [first = {}] = (await listed()).filter((each) => each.fromId === ana);
  const answer = await stack.api.post(`/inbound/${first.id}/reply`, {
    text: 'Come at nine',
    idempotencyKey: 'k',
  });
  await untilStatus(stack, String(answer.data.id), 'sent');
  const toBea = await sendText(stack, stack.shopId, { to: BEA, text: 'And you at ten' });
  await untilStatus(stack, String(toBea.data.id), 'sent');
  await stack.network.write(ANA, { to: PHONES[0], text: 'STOP' });

  await erase(stack.admin, personPath(ana));

  assert.deepEqual(new Set((await listed()).map(({ fromId }) => fromId)), new Set([bea]));
  assert.equal((await stack.api.get(`/inbound/${first.id}`)).status, 404);
  const told = await events();
  assert.ok(!JSON.stringify(told).includes(ANA));
  const received = told.filter(({ type }) => type === 'message.received');
  assert.deepEqual(new Set(received.map(({ data }) => data.fromId)), new Set([bea]));
  const record = (await stack.api.get(`/messages/${answer.data.id}`)).data;
  assert.deepEqual(
    [record.status, record.to, record.text, record.toId, record.replyTo],
    ['sent', null, null, undefined, undefined],
  );
  assert.equal((await stack.api.get(`/messages/${toBea.data.id}`)).data.text, 'And you at ten');
  // People that the policy stops, under both of their addresses. For three days also those whose receipts may come.
  const left = await tracesIn(redis, [ANA, NAME, ana, 'Come at nine', 'Hello 0']);
  assert.ok(
    left.length > 0 && left.every((key) => /:(writers|aliases|on-wire:\d)$/.test(key)),
    left.join(' '),
  );
  await context.test(
    'an opt-out stays, the idempotency key sends nothing again, and a second erasure finds no one',
    async () => {
      const refused = await sendText(stack, stack.shopId, { to: ANA, text: 'Are you there?' });
      assert.equal(refused.error?.code, 'RECIPIENT_OPTED_OUT');
      assert.equal((await stack.network.inbox(ANA)).items.length, 1);
      const again = await sendText(stack, stack.shopId, { to: BEA, text: 'Anything', idempotencyKey: 'k' });
      assert.deepEqual([again.status, again.data.status], [200, 'sent']);
      assert.equal((await stack.admin.delete(personPath('nobody'))).status, 404);
    },
  );

  await context.test('the log of changes has a digest of the person', async () => {
    const { data } = await stack.admin.get('/audit');
    const entries = data.items as {
      readonly route: string;
      readonly params: Told;
      readonly status: number;
    }[];
    const entry = entries.find(({ route, status }) => route.endsWith('/people/{personId}') && status < 300);
    assert.match(String(entry?.params.personId), /^[\w-]{43}$/);
  });
});

test('a person who writes again is published again; an erasure that a kill stopped continues', async () => {
  const ana = await writeToBoth(ANA);
  await stack.end('SIGKILL');
  // The state after the commit that decided the erasure.
  await redis.sadd(tenantKeys(stack.tenantId).erasingPeople, ana);
  await stack.start();
  await until('the erasure is over', async () => {
    return (await stack.admin.get(`/tenants/${stack.tenantId}/erasure`)).status === 404;
  });
  assert.ok((await listed()).every(({ fromId }) => fromId !== ana));
  assert.equal((await stack.admin.delete(personPath(ana))).status, 404);
});
