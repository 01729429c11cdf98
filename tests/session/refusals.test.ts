/** The network's refusals of a message (docs/chat-client.md, What the client surfaces), logged and counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../actors/sessions/session-host.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

test('each refusal of a message is reported by its code, logged with the message’s id and counted by code', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control, logged } = network;
  const outcomeOf = async (text: string, deadlineMs = 20_000): Promise<unknown> => {
    const order = textOrder(text, { deadlineMs });
    host.prepare(shop, order);
    const { outcome } = await log.next(shop, 'session.send_outcome');
    const line = logged.filter((each) => each.includes(order.messageId));
    assert.equal(line.length, outcome.kind === 'acknowledged' ? 0 : 1, line.join('; '));
    assert.ok(
      logged.every((each) => !each.includes(text)),
      'no log line holds a text',
    );
    return outcome;
  };
  try {
    await pair(network, shop);
    assert.deepEqual(await outcomeOf('taken'), { kind: 'acknowledged' });
    await control.ackErrors(SHOP_PHONE, 463);
    assert.deepEqual(await outcomeOf('a stranger too many'), { kind: 'refused', code: '463' });
    await control.ackErrors(SHOP_PHONE, 479);
    assert.deepEqual(await outcomeOf('a stanza not liked'), { kind: 'refused', code: '479' });
    await control.ackErrors(SHOP_PHONE, 429);
    assert.deepEqual(await outcomeOf('too fast'), { kind: 'rate_limited' });
    await control.fault(SHOP_PHONE, 'unacked', 1);
    assert.deepEqual(await outcomeOf('never confirmed', 2_000), { kind: 'unknown' });
    assert.deepEqual(
      host.figures().outcomes.map(({ outcome, code, count }) => [outcome, code, count]),
      [
        ['acknowledged', '', 1],
        ['refused', '463', 1],
        ['refused', '479', 1],
        ['rate_limited', '', 1],
        ['unknown', '', 1],
      ],
    );
  } finally {
    await network.stop();
  }
});

test('a number that turns out to have no device is asked about again, though it was on the network a moment ago', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control } = network;
  const number = '+33699999999';
  const outcomeOf = async (by: SessionAddress): Promise<string> => {
    host.prepare(by, textOrder('to nobody', { to: number }));
    return (await log.next(by, 'session.send_outcome')).outcome.kind;
  };
  try {
    await pair(network, shop);
    assert.equal(await outcomeOf(shop), 'acknowledged');
    await control.setNumber(number, false);
    // Another shop of the same worker knows of the number, and of no device.
    const other = newShop();
    host.open(other, { generation: 1 });
    await control.scan((await log.next(other, 'session.qr')).qr, '+33644444444');
    await log.next(other, 'session.closed');
    host.open(other, { generation: 2 });
    await log.next(other, 'session.connected');
    assert.equal(await outcomeOf(other), 'unprepared', 'the answer is kept');
    assert.equal(await outcomeOf(other), 'not_on_network');
  } finally {
    await network.stop();
  }
});

test('a rate signal to the look-up is reported and logged', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control, logged } = network;
  try {
    await pair(network, shop);
    await control.queryErrors(SHOP_PHONE, { xmlns: 'usync', code: 429, text: 'rate-overlimit', count: 1 });
    const order = textOrder('to a stranger', { to: '+33699999999' });
    host.prepare(shop, order);
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'rate_limited' });
    assert.ok(logged.some((line) => line.includes(order.messageId) && line.includes('rate_limited')));
  } finally {
    await network.stop();
  }
});

test('a rate signal to the look-up of a message that was recalled is reported as a late one', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control } = network;
  try {
    await pair(network, shop);
    await control.queryErrors(SHOP_PHONE, { xmlns: 'usync', code: 429, text: 'rate-overlimit', count: 1 });
    const order = textOrder('to a stranger', { to: '+33699999999' });
    host.prepare(shop, order);
    host.recall(shop, order.messageId);
    const { outcome, isLate } = await log.next(shop, 'session.send_outcome');
    assert.deepEqual([outcome, isLate], [{ kind: 'rate_limited' }, true]);
    host.prepare(shop, order);
    const next = await log.next(shop, 'session.prepared');
    assert.equal(next.messageId, order.messageId, 'the attempt after it goes on');
  } finally {
    await network.stop();
  }
});

test('a look-up that is throttled for one protocol is a rate signal with its wait, and nothing of it is kept', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control } = network;
  const outcomeOf = async (to: string): Promise<object> => {
    host.prepare(shop, textOrder('looked up', { to }));
    return (await log.next(shop, 'session.send_outcome')).outcome;
  };
  const stranger = '+33699999999';
  try {
    await pair(network, shop);
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 429, backoff: 300 });
    const throttled = { kind: 'rate_limited', backoffMs: 300_000 };
    assert.deepEqual(await outcomeOf(stranger), throttled);
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 501, backoff: 3_600_000 });
    assert.deepEqual(await outcomeOf(stranger), { ...throttled, backoffMs: 86_400_000 }, 'a day at most');
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 500 });
    assert.deepEqual(await outcomeOf(stranger), { kind: 'unprepared' });
    await control.fault(SHOP_PHONE, 'unlisted', 1);
    assert.deepEqual(await outcomeOf(stranger), { kind: 'unprepared' });
    await control.setNumber(stranger, false);
    assert.deepEqual(await outcomeOf(stranger), { kind: 'not_on_network' });
    for (const protocol of ['lid', 'devices'] as const) {
      const to = protocol === 'lid' ? '+33699999998' : '+33699999997';
      await control.usyncErrors(SHOP_PHONE, { protocol, code: 429, backoff: 300 });
      assert.deepEqual(await outcomeOf(to), throttled, protocol);
      assert.deepEqual(await outcomeOf(to), { kind: 'acknowledged' });
    }
  } finally {
    await network.stop();
  }
});
