/**
 * What the network answers instead of taking a message (docs/chat-client.md, What the client surfaces), logged
 * and counted.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newShop, pair, SHOP_PHONE, textOrder } from './session-conformance.ts';
import { startSimulated } from './simulated-network.ts';

test('each refusal of a message is told by its code, logged with the message’s id and counted by code', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control, logged } = network;
  const outcomeOf = async (text: string, deadlineMs = 20_000): Promise<unknown> => {
    const order = textOrder(text, { deadlineMs });
    host.send(shop, order);
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
      new Map(host.figures().outcomes),
      new Map([
        ['acknowledged', 1],
        ['refused 463', 1],
        ['refused 479', 1],
        ['rate_limited', 1],
        ['unknown', 1],
      ]),
    );
  } finally {
    await network.stop();
  }
});

test('a number that turns out to have no device is asked about anew, though it was on the network a moment ago', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control } = network;
  const order = textOrder('to nobody', { to: '+33699999999' });
  const isThere = async (): Promise<boolean | undefined> => {
    host.check(shop, order);
    return (await log.next(shop, 'session.recipient_checked')).exists;
  };
  try {
    await pair(network, shop);
    assert.equal(await isThere(), true);
    await control.setNumber(order.to, false);
    assert.equal(await isThere(), true, 'the answer is kept');
    host.send(shop, order);
    assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'unprepared' });
    assert.equal(await isThere(), false);
  } finally {
    await network.stop();
  }
});

test('a rate signal on the recipient check is told and logged', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control, logged } = network;
  try {
    await pair(network, shop);
    await control.queryErrors(SHOP_PHONE, { xmlns: 'usync', code: 429, text: 'rate-overlimit', count: 1 });
    host.check(shop, { messageId: '65f0000000000000000000aa', to: '+33699999999' });
    const { exists, rateLimited } = await log.next(shop, 'session.recipient_checked');
    assert.deepEqual([exists, rateLimited], [undefined, true]);
    assert.ok(logged.some((line) => line.endsWith('the network says that we ask too much')));
  } finally {
    await network.stop();
  }
});

test('a look-up that is throttled for one protocol is a rate signal with its wait, and nothing of it is kept', async () => {
  const network = await startSimulated();
  const shop = newShop();
  const { host, log, control } = network;
  const check = async (to: string): Promise<object> => {
    host.check(shop, { messageId: '65f0000000000000000000aa', to });
    const { exists, rateLimited, backoffMs, answered } = await log.next(shop, 'session.recipient_checked');
    return { exists, rateLimited, backoffMs, answered };
  };
  const plain = { rateLimited: false, backoffMs: undefined, answered: undefined };
  const stranger = '+33699999999';
  try {
    await pair(network, shop);
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 429, backoff: 300 });
    const throttled = { exists: undefined, rateLimited: true, backoffMs: 300_000, answered: undefined };
    assert.deepEqual(await check(stranger), throttled);
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 501, backoff: 3_600_000 });
    assert.deepEqual(await check(stranger), { ...throttled, backoffMs: 86_400_000 }, 'a day at most');
    await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 500 });
    assert.deepEqual(await check(stranger), { ...plain, exists: undefined, answered: true });
    await control.fault(SHOP_PHONE, 'unlisted', 1);
    assert.deepEqual(await check(stranger), { ...plain, exists: undefined, answered: true });
    await control.setNumber(stranger, false);
    assert.deepEqual(await check(stranger), { ...plain, exists: false });
    for (const protocol of ['lid', 'devices'] as const) {
      const to = protocol === 'lid' ? '+33699999998' : '+33699999997';
      assert.deepEqual(await check(to), { ...plain, exists: true });
      await control.usyncErrors(SHOP_PHONE, { protocol, code: 429, backoff: 300 });
      host.send(shop, textOrder('throttled', { to }));
      const { outcome } = await log.next(shop, 'session.send_outcome');
      assert.deepEqual(outcome, { kind: 'rate_limited', backoffMs: 300_000 }, protocol);
      host.send(shop, textOrder('taken', { to }));
      assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
    }
  } finally {
    await network.stop();
  }
});
