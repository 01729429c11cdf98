/** Inbound messages reach the tenant once, in order, and only if it wants them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { until } from '../../testbed/waiting.ts';
import { apiClient } from '../stack/api-client.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { connectShop, sentText, untilConnected, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110088';
const PERSON = '+33622220088';

const stack = sharedStack({ phone: SHOP_PHONE }, () => setInbound('texts'));

interface Told {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const write = (text: string, from = PERSON, addressing: 'lid' | 'pn' | 'lid_only' = 'lid') =>
  stack.network.write(from, { to: SHOP_PHONE, text, addressing });

const setInbound = (inbound: string) => stack.admin.patch(`/tenants/${stack.tenantId}`, { inbound });

/** Returns the tenant's events after a cursor. */
async function eventsAfter(cursor: string): Promise<Told[]> {
  const { data } = await stack.api.get(`/events?cursor=${cursor}&limit=100`);
  return data.items as Told[];
}

const now = async (): Promise<string> => String((await stack.api.get('/events')).data.nextCursor);
const listed = async () =>
  (await stack.api.get(`/shops/${stack.shopId}/inbound`)).data.items as Record<string, unknown>[];

test('an inbound message publishes and stores no event if the tenant gets none', async (context) => {
  await setInbound('none');
  context.after(() => setInbound('texts'));
  const cursor = await now();
  assert.equal((await write('Hello')).delivered, true);
  assert.deepEqual(await eventsAfter(cursor), []);
  assert.deepEqual(await listed(), []);
});

test('with texts, the event of an inbound message, the record and the list have the text, the quoted message and the writer', async () => {
  assert.equal((await setInbound('texts')).data.inbound, 'texts');
  const cursor = await now();
  await write('Are you open?');
  const [event, ...more] = await eventsAfter(cursor);
  assert.deepEqual([event?.type, more], ['message.received', []]);
  const { id, fromId, at, ...told } = event?.data ?? {};
  assert.deepEqual(told, {
    shopId: stack.shopId,
    from: PERSON,
    name: 'Contact 33622220088',
    kind: 'text',
    text: 'Are you open?',
    replyTo: null,
    media: null,
  });
  assert.match(String(fromId), /^[\w-]{22}$/);
  assert.ok(!Number.isNaN(Date.parse(String(at))));
  const record = { ...event?.data, readAt: null };
  assert.deepEqual((await stack.api.get(`/inbound/${id}`)).data, record);
  assert.deepEqual(await listed(), [record]);
  assert.equal((await stack.api.get('/inbound/66b1f0a2c3d4e5f607182908')).error?.code, 'MESSAGE_NOT_FOUND');
});

test('with events only, a tenant gets the writer and the kind of an inbound message, and not its text', async (context) => {
  await setInbound('events');
  context.after(() => setInbound('texts'));
  const cursor = await now();
  await write('A secret');
  const [event] = await eventsAfter(cursor);
  assert.deepEqual([event?.data.kind, event?.data.text, event?.data.media], ['text', null, null]);
});

test('a person has one id in all shops, by number and by the network’s own id, also if the number comes later', async () => {
  const second = String((await stack.api.post('/shops', { name: 'Second' })).data.id);
  await connectShop(stack, second, '+33611110089');
  const cursor = await now();
  await write('by id', '+33622220089', 'lid_only');
  await write('by number', '+33622220089', 'lid');
  await stack.network.write('+33622220089', { to: '+33611110089', text: 'elsewhere', addressing: 'pn' });
  const events = await eventsAfter(cursor);
  assert.deepEqual(
    events.map(({ data }) => [data.shopId, data.from, data.text]),
    [
      [stack.shopId, null, 'by id'],
      [stack.shopId, '+33622220089', 'by number'],
      [second, '+33622220089', 'elsewhere'],
    ],
  );
  assert.equal(new Set(events.map(({ data }) => data.fromId)).size, 1);
  await write('somebody else');
  assert.notEqual((await eventsAfter(cursor)).at(-1)?.data.fromId, events[0]?.data.fromId);
});

test('a key without inbound.read gets all other events and may not read the list', async () => {
  const key = await stack.admin.post(`/tenants/${stack.tenantId}/keys`, {
    name: 'states',
    permissions: ['messages.read'],
    limits: { minute: 600, hour: 6_000, day: 60_000 },
  });
  const limited = apiClient(stack.apiUrl, String(key.data.key));
  const cursor = await now();
  await sentText(stack, stack.shopId, { to: PERSON, text: 'Yes' });
  await write('Thanks');
  await until('both are told', async () => (await eventsAfter(cursor)).length >= 2);
  const { data } = await limited.get(`/events?cursor=${cursor}`);
  const types = (data.items as Told[]).map(({ type }) => type);
  assert.ok(types.includes('message.sent') && !types.includes('message.received'), types.join(' '));
  const refused = await limited.get(`/shops/${stack.shopId}/inbound`);
  assert.equal(refused.error?.code, 'FORBIDDEN_PERMISSION');
});

/** The newest inbound message. */
const newest = async () => (await listed())[0] ?? {};

test('a reply quotes the message, reaches a person without a known number, and a STOP opts out', async () => {
  const person = '+33622220091';
  await write('Is there bread?', person, 'lid_only');
  const { id, fromId } = await newest();
  const path = `/inbound/${id}/reply`;
  const reply = () => stack.api.post(path, { text: 'There is.', idempotencyKey: 'answer' });
  const [first, again] = [await reply(), await reply()];
  assert.deepEqual([first.status, again.status], [202, 200]);
  assert.equal(again.data.id, first.data.id);
  assert.equal((first.data.policy as { recipientClass: string }).recipientClass, 'known');
  const record = await untilStatus(stack, String(first.data.id), 'sent');
  assert.deepEqual([record.to, record.toId, record.replyTo], [null, fromId, id]);
  const inbox = await stack.network.inbox(person);
  assert.deepEqual(
    inbox.items.map(({ text }) => text),
    ['There is.'],
  );
  await write('STOP', person, 'lid_only');
  assert.equal((await stack.api.post(path, { text: 'More?' })).error?.code, 'RECIPIENT_OPTED_OUT');
  assert.equal((await stack.api.post(path, {})).error?.code, 'EMPTY_MESSAGE');
});

test('a STOP with the number stops replies to what was written without one, also a reply that waits', async () => {
  const actor = `/actors/${stack.tenantId}/${stack.shopId}`;
  for (const waits of [false, true]) {
    const person = waits ? '+33622220094' : '+33622220093';
    await write('Is there bread?', person, 'lid_only');
    const path = `/inbound/${(await newest()).id}/reply`;
    if (waits) await stack.admin.post(`${actor}/pause`, {});
    const waiting = waits ? await stack.api.post(path, { text: 'There is.' }) : undefined;
    await write('STOP', person, 'lid');
    assert.equal((await stack.api.post(path, { text: 'More?' })).error?.code, 'RECIPIENT_OPTED_OUT');
    if (waiting === undefined) continue;
    await stack.admin.post(`${actor}/resume`, {});
    const { status, reason } = await untilEnded(stack, String(waiting.data.id));
    assert.deepEqual([waiting.status, status, reason], [202, 'rejected', 'RECIPIENT_OPTED_OUT']);
  }
  assert.deepEqual((await stack.network.inbox('+33622220094')).items, []);
});

test('a reply to a person with a number is a message to that number', async () => {
  const person = '+33622220092';
  await write('Hello?', person);
  const { id } = await newest();
  const { data } = await stack.api.post(`/inbound/${id}/reply`, { text: 'Hello!' });
  assert.equal((await untilStatus(stack, String(data.id), 'sent')).to, person);
});

test('a message marked as read stays so, and cannot be marked without a session', async () => {
  await write('Are you there?', '+33622220092');
  const { id } = await newest();
  const marked = await stack.api.post(`/inbound/${id}/read`, {});
  assert.equal(marked.status, 200);
  assert.ok(marked.data.readAt);
  assert.deepEqual((await stack.api.post(`/inbound/${id}/read`, {})).data, marked.data);
  assert.deepEqual((await stack.api.get(`/inbound/${id}`)).data, marked.data);
  await write('One more', '+33622220092');
  const other = await newest();
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/disconnect`);
  const refused = await stack.api.post(`/inbound/${other.id}/read`, {});
  assert.equal(refused.error?.code, 'MSGAPP_NOT_CONNECTED');
  await stack.api.post(`/shops/${stack.shopId}/channels/msgapp/connect`);
  await untilConnected(stack, stack.shopId);
});

test('after a kill the events of inbound messages are there once, in their order', async () => {
  const cursor = await now();
  for (const text of ['one', 'two', 'three']) await write(text);
  await stack.end('SIGKILL');
  const waiting = ['four', 'five'].map((text) =>
    stack.network.write(PERSON, { to: SHOP_PHONE, text, wait: false }),
  );
  await Promise.all(waiting);
  await stack.start();
  const texts = async (): Promise<unknown[]> =>
    (await eventsAfter(cursor))
      .filter(({ type }) => type === 'message.received')
      .map(({ data }) => data.text);
  await until('all came', async () => (await texts()).length >= 5, { withinMs: MINUTE_MS });
  assert.deepEqual(await texts(), ['one', 'two', 'three', 'four', 'five']);
});
