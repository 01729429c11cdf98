/**
 * A line is lost before the network acknowledged a message. The next connection puts the message on the wire once more
 * under the same id, which the network and phones show once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendOrder, SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { UnacknowledgedOrders } from '../../../../actors/sessions/worker-thread/shared/unacknowledged.ts';
import { FakeClock } from '../../../testbed/fake-clock.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const GROUP = '120363000000000999@g.us';

type Loss = 'lost' | 'unacked';

/** Sends an order whose stanza meets that fault, then loses the line. Resolves when the session has ended. */
async function loseLine(
  { host, log, control }: SimulatedNetwork,
  shop: SessionAddress,
  { order, loss, generation }: { order: SendOrder; loss: Loss; generation: number },
): Promise<void> {
  await control.fault(SHOP_PHONE, loss, 1);
  host.order(shop, { type: 'prepare', order });
  await until('the stanza left', async () => {
    const [session] = (await control.sessions()).items;
    return (session?.sent.stanzas ?? 0) + (session?.sent.lost ?? 0) > 0;
  });
  await control.fault(SHOP_PHONE, 'drop');
  await log.next(shop, 'session.closed', (event) => event.generation === generation);
}

for (const to of [PERSON, GROUP]) {
  for (const loss of ['lost', 'unacked'] as const) {
    const title = `${to === GROUP ? 'a post' : 'a message'} that ${loss === 'lost' ? 'never arrived' : 'arrived'}`;
    test(`${title} goes once more under its id after a lost connection, and is shown once`, async (context) => {
      const network = await simulatedNetwork(context);
      const shop = newShop();
      const { host, log, control } = network;
      await control.setGroup(GROUP, {
        name: 'Some',
        participants: [SHOP_PHONE, PERSON],
        admins: [SHOP_PHONE],
      });
      await pair(network, shop);
      const order = textOrder('once', { to });
      // A phone that is off does not report the message, which would be its outcome.
      await control.setHandset(PERSON, false);
      await loseLine(network, shop, { order, loss, generation: 2 });
      assert.equal(log.all(shop, 'session.send_outcome').length, 0, 'it may still be known');
      host.open(shop, { generation: 3 });
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
      await control.setHandset(PERSON, true);
      const { items } = await control.inbox(PERSON);
      assert.deepEqual(
        items.map(({ messageId, text, duplicates }) => [messageId, text, duplicates]),
        [[order.wireId, 'once', loss === 'lost' ? 0 : 1]],
      );
      host.order(shop, { type: 'prepare', order: textOrder('and on', { to }) });
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
      assert.deepEqual(await network.received(shop, PERSON), ['once', 'and on']);
    });
  }
}

test('a message that its recipient’s phone reported is acknowledged with the loss of its line, and goes once', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  const order = textOrder('reported');
  await control.fault(SHOP_PHONE, 'unacked', 1);
  host.order(shop, { type: 'prepare', order });
  await until('it arrived', async () => (await network.received(shop, PERSON)).length === 1);
  await control.sendReceipts(PERSON, { to: SHOP_PHONE, type: 'delivered', id: order.wireId });
  // The client has the receipt once it has a stanza that came after it.
  await control.write('+33633333333', { to: SHOP_PHONE, text: 'after it', wait: false });
  host.order(shop, { type: 'confirm', token: (await log.next(shop, 'session.inbound')).token });
  assert.equal(log.all(shop, 'session.send_outcome').length, 0);
  await control.fault(SHOP_PHONE, 'drop');
  await log.next(shop, 'session.closed', ({ generation }) => generation === 2);
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  const { receipts } = await log.next(shop, 'session.receipts');
  assert.ok(receipts.some(({ wireId }) => wireId === order.wireId));
  const types = log.typesOf(shop);
  assert.ok(types.indexOf('session.send_outcome') < types.indexOf('session.receipts'));
  host.open(shop, { generation: 3 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  const next = textOrder('the next');
  host.order(shop, { type: 'prepare', order: next });
  assert.equal((await log.next(shop, 'session.send_outcome')).messageId, next.messageId);
  const { items } = await control.inbox(PERSON);
  assert.deepEqual(
    items.map(({ text, duplicates }) => [text, duplicates]),
    [
      ['reported', 0],
      ['the next', 0],
    ],
  );
});

test('a message whose line is lost twice is unknown, and not sent a third time', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  await loseLine(network, shop, { order: textOrder('twice'), loss: 'lost', generation: 2 });
  await control.fault(SHOP_PHONE, 'lost', 1);
  host.open(shop, { generation: 3 });
  await until('it left again', async () => {
    const [session] = (await control.sessions()).items;
    return session?.sent.lost === 2;
  });
  await control.fault(SHOP_PHONE, 'drop');
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'unknown' });
  host.open(shop, { generation: 4 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 4);
  assert.deepEqual(await outcomeOf(textOrder('the next')), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, PERSON), ['the next']);
});

test('a message is not sent again to a recipient who sends STOP before the session is back', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  const order = textOrder('unwanted');
  await loseLine(network, shop, { order, loss: 'lost', generation: 2 });
  await control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  host.open(shop, { generation: 3 });
  const { token } = await log.next(shop, 'session.inbound');
  // The shop's actor does this after a STOP.
  host.order(shop, { type: 'do_not_repeat', messageId: order.messageId });
  host.order(shop, { type: 'confirm', token });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'unknown' });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  assert.deepEqual(await outcomeOf(textOrder('to another', { to: '+33633333333' })), {
    kind: 'acknowledged',
  });
  assert.deepEqual(await network.received(shop, PERSON), []);
});

test('a receipt that waited for the next connection is the outcome of its message, also if a STOP came behind it', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  const order = textOrder('kept');
  await control.setHandset(PERSON, false);
  await loseLine(network, shop, { order, loss: 'unacked', generation: 2 });
  assert.equal(log.all(shop, 'session.send_outcome').length, 0);
  await control.setHandset(PERSON, true);
  await control.sendReceipts(PERSON, { to: SHOP_PHONE, type: 'delivered', id: order.wireId });
  await control.write(PERSON, { to: SHOP_PHONE, text: 'STOP', wait: false });
  host.open(shop, { generation: 3 });
  const { token } = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'do_not_repeat', messageId: order.messageId });
  host.order(shop, { type: 'confirm', token });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  await log.next(shop, 'session.receipts');
  const types = log.typesOf(shop);
  assert.ok(types.indexOf('session.send_outcome') < types.indexOf('session.receipts'));
  assert.deepEqual(await network.received(shop, PERSON), ['kept']);
});

test('an order that no connection follows within a minute is unknown', async () => {
  const clock = new FakeClock();
  const orders = new UnacknowledgedOrders(clock);
  let unknown = 0;
  const order = textOrder('late');
  orders.keep({
    preparation: { attempt: 1, order, composingMs: 0 },
    wireId: 'readdressed',
    to: PERSON,
    chat: '33622222222@s.whatsapp.net',
    message: { conversation: 'late' },
    end: ({ kind }) => {
      if (kind === 'unknown') unknown += 1;
    },
  });
  await clock.advance(59_999);
  assert.deepEqual([unknown, orders.isKept('readdressed'), orders.isKept(order.wireId)], [0, true, true]);
  await clock.advance(1);
  assert.deepEqual([unknown, orders.isKept(order.wireId), orders.take().length], [1, false, 0]);
});
