/**
 * A handset that could not read a message asks for it again, perhaps hours later, when another process has the session.
 * The latest messages are kept sealed in the store for that, so the answer needs nothing from the old process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const PERSON = '+33622222222';

test('a message that could not be read is sent again by the next process, once, and counts no second time', async (context) => {
  const { network: first, shop, outcomeOf } = await pairedShop(context);
  assert.equal((await outcomeOf(textOrder('read me'))).kind, 'acknowledged');
  await first.control.fault(SHOP_PHONE, 'unread', 1);
  assert.equal((await outcomeOf(textOrder('unreadable at first'))).kind, 'acknowledged');
  assert.deepEqual(await first.received(shop, PERSON), ['read me']);
  const secondNetwork = await first.another();
  secondNetwork.host.open(shop, { generation: 3 });
  await secondNetwork.log.next(shop, 'session.connected');
  await until('both are read', async () => (await secondNetwork.received(shop, PERSON)).length === 2);
  assert.deepEqual(await secondNetwork.received(shop, PERSON), ['read me', 'unreadable at first']);
  secondNetwork.host.order(shop, { type: 'prepare', order: textOrder('and the next') });
  assert.equal((await secondNetwork.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  const { items } = await secondNetwork.control.inbox(PERSON);
  assert.deepEqual(
    items.map(({ text, duplicates }) => [text, duplicates]),
    [
      ['read me', 0],
      ['unreadable at first', 0],
      ['and the next', 0],
    ],
  );
  assert.equal(
    secondNetwork.log.all(shop, 'session.send_outcome').length,
    1,
    'only of what was ordered here',
  );
});

test('a request for a message that is no longer kept gets no reply, and the session continues', async (context) => {
  const { network: first, shop, outcomeOf } = await pairedShop(context);
  await first.control.fault(SHOP_PHONE, 'unread', 1);
  assert.equal((await outcomeOf(textOrder('forgotten'))).kind, 'acknowledged');
  const secondNetwork = await first.another();
  const isSent = (key: string): boolean => /:sent:\d$/.test(key);
  for (const key of [...secondNetwork.store.hashes.keys()].filter(isSent))
    secondNetwork.store.hashes.delete(key);
  secondNetwork.host.open(shop, { generation: 3 });
  await secondNetwork.log.next(shop, 'session.connected');
  secondNetwork.host.order(shop, { type: 'prepare', order: textOrder('later') });
  assert.equal((await secondNetwork.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  assert.deepEqual(await secondNetwork.received(shop, PERSON), ['later']);
});
