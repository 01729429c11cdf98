/**
 * A handset that could not read a message asks for it again, perhaps hours later, when another process has the session.
 * The latest messages are kept sealed in the store for that, so the answer needs nothing from the old process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../e2e/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

const PERSON = '+33622222222';

test('a message that could not be read is sent again by the next process, once, and counts no second time', async () => {
  const first = await startSimulated();
  const shop = newShop();
  await pair(first, shop);
  first.host.prepare(shop, textOrder('read me'));
  assert.equal((await first.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  await first.control.fault(SHOP_PHONE, 'unread', 1);
  first.host.prepare(shop, textOrder('unreadable at first'));
  assert.equal((await first.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  assert.deepEqual(await first.received(shop, PERSON), ['read me']);
  const second = await first.another();
  try {
    second.host.open(shop, { generation: 3 });
    await second.log.next(shop, 'session.connected');
    await until('both are read', async () => (await second.received(shop, PERSON)).length === 2);
    assert.deepEqual(await second.received(shop, PERSON), ['read me', 'unreadable at first']);
    second.host.prepare(shop, textOrder('and the next'));
    assert.equal((await second.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
    const { items } = await second.control.inbox(PERSON);
    assert.deepEqual(
      items.map(({ text, duplicates }) => [text, duplicates]),
      [
        ['read me', 0],
        ['unreadable at first', 0],
        ['and the next', 0],
      ],
    );
    assert.equal(second.log.all(shop, 'session.send_outcome').length, 1, 'only of what was ordered here');
  } finally {
    await second.stop();
  }
});

test('a request for a message that is no longer kept gets no reply, and the session continues', async () => {
  const first = await startSimulated();
  const shop = newShop();
  await pair(first, shop);
  await first.control.fault(SHOP_PHONE, 'unread', 1);
  first.host.prepare(shop, textOrder('forgotten'));
  assert.equal((await first.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  const second = await first.another();
  try {
    const isSent = (key: string): boolean => /:sent:\d$/.test(key);
    for (const key of [...second.store.hashes.keys()].filter(isSent)) second.store.hashes.delete(key);
    second.host.open(shop, { generation: 3 });
    await second.log.next(shop, 'session.connected');
    second.host.prepare(shop, textOrder('later'));
    assert.equal((await second.log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
    assert.deepEqual(await second.received(shop, PERSON), ['later']);
  } finally {
    await second.stop();
  }
});
