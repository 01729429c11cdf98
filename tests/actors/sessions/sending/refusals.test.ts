/** The network's refusals of a message (docs/chat-client.md, What the client surfaces), logged and counted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../runtime/durations.ts';
import { newShop, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

test('each refusal of a message is reported by its code, logged with the message’s id and counted by code', async (context) => {
  const { host, control, logged, outcomeOf } = await pairedShop(context);
  const sent = async (text: string, deadlineMs = 20_000): Promise<unknown> => {
    const order = textOrder(text, { deadlineMs });
    const outcome = await outcomeOf(order);
    const line = logged.filter((each) => each.includes(order.messageId));
    assert.equal(line.length, outcome.kind === 'acknowledged' ? 0 : 1, line.join('; '));
    assert.ok(
      logged.every((each) => !each.includes(text)),
      'no log line holds a text',
    );
    return outcome;
  };
  assert.deepEqual(await sent('taken'), { kind: 'acknowledged' });
  await control.ackErrors(SHOP_PHONE, 463);
  assert.deepEqual(await sent('a stranger too many'), { kind: 'refused', code: '463' });
  await control.ackErrors(SHOP_PHONE, 479);
  assert.deepEqual(await sent('a stanza not liked'), { kind: 'refused', code: '479' });
  await control.ackErrors(SHOP_PHONE, 429);
  assert.deepEqual(await sent('too fast'), { kind: 'rate_limited' });
  await control.fault(SHOP_PHONE, 'unacked', 2);
  assert.deepEqual(await sent('confirmed by its delivery', 2_000), { kind: 'acknowledged' });
  await control.setHandset('+33622222222', false);
  assert.deepEqual(await sent('never confirmed', 2_000), { kind: 'unknown' });
  assert.deepEqual(
    host.figures().outcomes.map(({ outcome, code, count }) => [outcome, code, count]),
    [
      ['acknowledged', '', 2],
      ['refused', '463', 1],
      ['refused', '479', 1],
      ['rate_limited', '', 1],
      ['unknown', '', 1],
    ],
  );
});

test('a number that turns out to have no device is asked about again, though it was on the network a moment ago', async (context) => {
  const { shop, host, log, control } = await pairedShop(context);
  const number = '+33699999999';
  const outcomeOf = async (shop: SessionAddress): Promise<string> => {
    host.order(shop, { type: 'prepare', order: textOrder('to nobody', { to: number }) });
    return (await log.next(shop, 'session.send_outcome')).outcome.kind;
  };
  assert.equal(await outcomeOf(shop), 'acknowledged');
  await control.setNumber(number, false);
  // Another shop of the worker remembers that the number is on the network, but no device of it.
  const otherAddress = newShop();
  host.open(otherAddress, { generation: 1 });
  await control.scan((await log.next(otherAddress, 'session.qr')).qr, '+33644444444');
  await log.next(otherAddress, 'session.closed');
  host.open(otherAddress, { generation: 2 });
  await log.next(otherAddress, 'session.connected');
  assert.equal(await outcomeOf(otherAddress), 'unprepared', 'the answer is kept');
  assert.equal(await outcomeOf(otherAddress), 'not_on_network');
});

/** Each look-up is throttled. The session's own look-ups after a login would use up a smaller number. */
const THROTTLED = { xmlns: 'usync', code: 429, text: 'rate-overlimit', count: 1_000 };

test('a rate signal to the look-up is reported and logged', async (context) => {
  const { control, logged, outcomeOf } = await pairedShop(context);
  await control.queryErrors(SHOP_PHONE, THROTTLED);
  const order = textOrder('to a stranger', { to: '+33699999999' });
  assert.deepEqual(await outcomeOf(order), { kind: 'rate_limited' });
  assert.ok(logged.some((line) => line.includes(order.messageId) && line.includes('rate_limited')));
});

test('a rate signal to the look-up of a message that was recalled is reported as a late one', async (context) => {
  const { shop, host, log, control } = await pairedShop(context);
  await control.queryErrors(SHOP_PHONE, THROTTLED);
  const order = textOrder('to a stranger', { to: '+33699999999' });
  host.order(shop, { type: 'prepare', order });
  host.order(shop, { type: 'recall', messageId: order.messageId });
  const { outcome, isLate } = await log.next(shop, 'session.send_outcome');
  assert.deepEqual([outcome, isLate], [{ kind: 'rate_limited' }, true]);
  await control.queryErrors(SHOP_PHONE, { ...THROTTLED, count: 0 });
  host.order(shop, { type: 'prepare', order });
  const next = await log.next(shop, 'session.prepared');
  assert.equal(next.messageId, order.messageId, 'the attempt after it goes on');
});

test('a look-up that is throttled for one protocol is a rate signal with its wait, and nothing of it is kept', async (context) => {
  const { control, outcomeOf } = await pairedShop(context);
  const outcomeTo = (to: string): Promise<object> => outcomeOf(textOrder('looked up', { to }));
  const stranger = '+33699999999';
  await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 429, backoff: 300 });
  const throttled = { kind: 'rate_limited', backoffMs: 5 * MINUTE_MS };
  assert.deepEqual(await outcomeTo(stranger), throttled);
  await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 501, backoff: HOUR_MS });
  assert.deepEqual(await outcomeTo(stranger), { ...throttled, backoffMs: DAY_MS }, 'a day at most');
  await control.usyncErrors(SHOP_PHONE, { protocol: 'contact', code: 500 });
  assert.deepEqual(await outcomeTo(stranger), { kind: 'unprepared' });
  await control.fault(SHOP_PHONE, 'unlisted', 1);
  assert.deepEqual(await outcomeTo(stranger), { kind: 'unprepared' });
  await control.setNumber(stranger, false);
  assert.deepEqual(await outcomeTo(stranger), { kind: 'not_on_network' });
  for (const protocol of ['lid', 'devices'] as const) {
    const to = protocol === 'lid' ? '+33699999998' : '+33699999997';
    await control.usyncErrors(SHOP_PHONE, { protocol, code: 429, backoff: 300 });
    assert.deepEqual(await outcomeTo(to), throttled, protocol);
    assert.deepEqual(await outcomeTo(to), { kind: 'acknowledged' });
  }
});
