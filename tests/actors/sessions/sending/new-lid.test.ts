/** A number's LID may change. Messages to the former one are acknowledged and reach no one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendOrder } from '../../../../actors/sessions/session-host.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';

const PERSON = '+33622222222';

test('a message to a LID that is no longer valid goes to the new one, once, and its receipt is that of the message', async (context) => {
  let network = await simulatedNetwork(context);
  const shop = newShop();
  const { host, log, control } = network;
  await pair(network, shop);
  host.order(shop, { type: 'prepare', order: textOrder('before') });
  assert.equal((await log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  await control.changeLid(PERSON);
  const order = textOrder('after');
  host.order(shop, { type: 'prepare', order });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, PERSON), ['before', 'after']);
  const told = await log.next(shop, 'session.receipts', ({ receipts }) =>
    receipts.some(({ wireId }) => wireId === order.wireId),
  );
  assert.ok(told.receipts.some(({ from }) => from === PERSON));
  host.order(shop, { type: 'prepare', order: textOrder('and on') });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  const [session] = (await control.sessions()).items;
  assert.equal(session?.sent.stanzas, 3, 'one for each that reached somebody');
  const [, after] = (await control.inbox(PERSON)).items;
  assert.notEqual(after?.messageId, order.wireId);
  network = await network.another();
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected');
  await control.sendReceipts(PERSON, { to: SHOP_PHONE, type: 'read', id: after?.messageId ?? '' });
  const read = await network.log.next(shop, 'session.receipts', ({ receipts }) =>
    receipts.some(({ kind }) => kind === 'read'),
  );
  const namedKinds = read.receipts.filter(({ kind }) => kind === 'read').map(({ wireId }) => wireId);
  assert.deepEqual(namedKinds, [order.wireId], 'also in another process');
});

test('the daily query about a number returns its new LID, before anything is sent to the former one', async (context) => {
  const { shop, host, log, control, outcomeOf } = await pairedShop(context, { timing: { knownNumberMs: 0 } });
  assert.equal((await outcomeOf(textOrder('before'))).kind, 'acknowledged');
  await control.changeLid(PERSON);
  const order = textOrder('after');
  host.order(shop, { type: 'prepare', order });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  const [, after] = (await control.inbox(PERSON)).items;
  assert.equal(after?.messageId, order.wireId, 'it was not sent a second time under another id');
});

test('the token that a person gave under a former LID does not count for the new account of the number', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  const write = async (text: string): Promise<void> => {
    const written = network.write(shop, PERSON, text);
    const { token } = await log.next(shop, 'session.inbound');
    host.order(shop, { type: 'confirm', token });
    assert.equal(await written, true);
  };
  const hasChat = async (): Promise<boolean | undefined> =>
    (await log.next(shop, 'session.prepared')).hasChat;
  const outcome = async (): Promise<string> => (await log.next(shop, 'session.send_outcome')).outcome.kind;
  const toPerson = (text: string): SendOrder => textOrder(text, { needsChat: true });
  await write('Hello');
  host.order(shop, { type: 'prepare', order: toPerson('to the account that wrote') });
  assert.deepEqual([await hasChat(), await outcome()], [true, 'acknowledged']);
  await control.changeLid(PERSON);
  host.order(shop, { type: 'prepare', order: toPerson('on its way as the account changed') });
  assert.deepEqual([await hasChat(), await hasChat()], [true, false], 'the actor is asked about the new one');
  assert.equal(await outcome(), 'acknowledged');
  await control.restrict(SHOP_PHONE, { active: true });
  host.order(shop, { type: 'prepare', order: toPerson('to an account that never wrote') });
  assert.equal(await outcome(), 'no_chat');
  await write('Hello from the new account');
  host.order(shop, { type: 'prepare', order: toPerson('to the new account') });
  assert.deepEqual([await hasChat(), await outcome()], [true, 'acknowledged']);
});
