/** Delivered and read over the wire protocol: people and groups, handsets that were off, restarts, and forged receipts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServiceStack, startServiceStack } from './service-stack.ts';
import { connectShop, sendText, untilStatus } from './shop-steps.ts';
import { until } from './waiting.ts';

const SHOP = '+33611110070';
const PERSON = '+33622220070';
const SLEEPER = '+33622220071';
const GROUP = '120363000000000070@g.us';

let stack: ServiceStack;
before(async () => {
  stack = await startServiceStack();
  await stack.network.setGroup(GROUP, {
    name: 'Neighbours',
    participants: [SHOP, PERSON, SLEEPER],
    admins: [SHOP],
  });
  await connectShop(stack, stack.shopId, SHOP);
});
after(() => stack.stop());

async function send(to: string, text: string): Promise<string> {
  const sent = await until(`${text} is accepted`, async () => {
    const answer = await sendText(stack, stack.shopId, { to, text, idempotencyKey: text });
    return answer.status < 300 && answer;
  });
  const id = String(sent.data.id);
  await untilStatus(stack, id, 'sent');
  return id;
}

async function record(id: string): Promise<Readonly<Record<string, unknown>>> {
  return (await stack.api.get(`/messages/${id}`)).data;
}

test('delivered by itself, read when it is read, in this order on the feed', async () => {
  const { data } = await stack.api.get('/events');
  const id = await send(PERSON, 'one');
  const delivered = await until('it is delivered', async () => {
    const found = await record(id);
    return found.deliveredAt !== null && found;
  });
  assert.deepEqual([delivered.status, delivered.readAt], ['sent', null]);
  await stack.network.sendReceipts(PERSON, { to: SHOP });
  const read = await until('it is read', async () => {
    const found = await record(id);
    return found.readAt !== null && found;
  });
  assert.equal(read.deliveredAt, delivered.deliveredAt);
  assert.equal(read.updatedAt, delivered.updatedAt);
  const events = await stack.api.get(`/events?cursor=${data.nextCursor}`);
  const told = events.data.items as { type: string; data: { id: string } }[];
  assert.deepEqual(
    told.filter((event) => event.data.id === id).map(({ type }) => type),
    ['message.sent', 'message.delivered', 'message.read'],
  );
});

test('a handset that was off delivers late, to a service that was killed and started again', async () => {
  await stack.network.setHandset(SLEEPER, false);
  const id = await send(SLEEPER, 'two');
  assert.equal((await record(id)).deliveredAt, null);
  await stack.end('SIGKILL');
  await stack.network.setHandset(SLEEPER, true);
  await stack.start();
  const late = await until('it is delivered late', async () => {
    const found = await record(id).catch(() => undefined);
    return found?.deliveredAt != null && found;
  });
  assert.equal(late.status, 'sent');
});

test('members of a group count once each, and a forged receipt changes nothing', async () => {
  const id = await send(GROUP, 'three');
  await until('both have it', async () => (await record(id)).deliveredCount === 2);
  const [entry] = (await stack.network.inbox(PERSON)).items.filter(({ group }) => group === GROUP);
  const about = { to: SHOP, group: GROUP, id: entry?.messageId ?? '' };
  await stack.network.sendReceipts('+33622229999', { to: SHOP, id: about.id });
  await stack.network.sendReceipts('+33622229999', about);
  await stack.network.sendReceipts(PERSON, { to: SHOP, id: '3EB0FFFFFFFFFFFFFFFFFF' });
  await stack.network.sendReceipts(PERSON, about);
  await stack.network.sendReceipts(PERSON, about);
  const read = await until('one read it', async () => {
    const found = await record(id);
    return found.readAt !== null && found;
  });
  await stack.network.sendReceipts(PERSON, { ...about, type: 'delivered' });
  await stack.network.sendReceipts(SLEEPER, about);
  const both = await until('both read it', async () => {
    const found = await record(id);
    return found.readCount === 2 && found;
  });
  assert.deepEqual([both.deliveredCount, both.deliveredAt, both.readAt], [2, read.deliveredAt, read.readAt]);
});
