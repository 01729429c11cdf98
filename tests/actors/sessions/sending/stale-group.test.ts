/** The network refuses a post (421) that names a group's members by the wrong kind of address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const GROUP = '120363000000000999@g.us';
const MEMBER = '+33644000001';

test('a post refused for its addressing is sent once more after the group was asked for, and not twice', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  await control.setGroup(GROUP, {
    name: 'Some',
    participants: [SHOP_PHONE, MEMBER],
    admins: [SHOP_PHONE],
  });
  await control.ackErrors(SHOP_PHONE, 421, 1);
  assert.deepEqual(await outcomeOf(textOrder('refused once', { to: GROUP })), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, MEMBER), ['refused once']);
  await control.ackErrors(SHOP_PHONE, 421, 2);
  host.order(shop, { type: 'prepare', order: textOrder('refused twice', { to: GROUP }) });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, {
    kind: 'refused',
    code: '421',
  });
  assert.deepEqual(await network.received(shop, MEMBER), ['refused once']);
});
