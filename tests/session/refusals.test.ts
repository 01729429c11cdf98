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
