/**
 * The network has no keys of some devices, such as those that were unlinked. All other devices still get the message.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const GROUP = '120363000000000888@g.us';
const WITH_KEYS = ['+33644000001', '+33644000002'];
const WITHOUT = '+33644000003';

for (const code of [404, 406, 429]) {
  test(`a group reads a post although the network answers ${code} for one member's keys`, async (context) => {
    const { network, shop, control, outcomeOf } = await pairedShop(context);
    const participants = [SHOP_PHONE, ...WITH_KEYS, WITHOUT];
    await control.setGroup(GROUP, { name: 'Some', participants, admins: [SHOP_PHONE] });
    await control.refuseKeys(WITHOUT, code);
    assert.deepEqual(await outcomeOf(textOrder('to all', { to: GROUP, deadlineMs: 30_000 })), {
      kind: 'acknowledged',
    });
    for (const phone of WITH_KEYS) assert.deepEqual(await network.received(shop, phone), ['to all']);
    assert.deepEqual(await outcomeOf(textOrder('to one', { to: WITHOUT, deadlineMs: 30_000 })), {
      kind: 'unprepared',
    });
    // The device has keys again. Only a device that never had keys is left out for longer.
    await control.refuseKeys(WITHOUT, 0);
    assert.deepEqual(await outcomeOf(textOrder('again to one', { to: WITHOUT, deadlineMs: 30_000 })), {
      kind: code === 429 ? 'acknowledged' : 'unprepared',
    });
    // It cannot read a post without the group's key, and asks for it.
    assert.deepEqual(await outcomeOf(textOrder('again to all', { to: GROUP, deadlineMs: 30_000 })), {
      kind: 'acknowledged',
    });
    await until('it was answered', async () =>
      (await network.received(shop, WITHOUT)).includes('again to all'),
    );
  });
}

test('a post reaches the other members of a group after a member without keys joined', async (context) => {
  const { network, shop, log, control, outcomeOf } = await pairedShop(context);
  const group = { name: 'Some', admins: [SHOP_PHONE] };
  await control.setGroup(GROUP, { ...group, participants: [SHOP_PHONE, ...WITH_KEYS] });
  assert.deepEqual(await outcomeOf(textOrder('before', { to: GROUP })), { kind: 'acknowledged' });
  await control.refuseKeys(WITHOUT, 404);
  await control.setGroup(GROUP, { ...group, participants: [SHOP_PHONE, ...WITH_KEYS, WITHOUT] });
  await log.next(shop, 'session.groups', ({ groups }) => groups[0]?.participantCount === 4);
  assert.deepEqual(await outcomeOf(textOrder('after', { to: GROUP })), { kind: 'acknowledged' });
  for (const phone of WITH_KEYS) assert.deepEqual(await network.received(shop, phone), ['before', 'after']);
});

test('a person whose phone has no keys gets messages again once they wrote', async (context) => {
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
  await control.refuseKeys(WITHOUT, 404);
  const kindOf = async (text: string): Promise<string> =>
    (await outcomeOf(textOrder(text, { to: WITHOUT, deadlineMs: 30_000 }))).kind;
  assert.equal(await kindOf('before'), 'unprepared');
  const written = control.write(WITHOUT, { to: SHOP_PHONE, text: 'hello' });
  host.order(shop, { type: 'confirm', token: (await log.next(shop, 'session.inbound')).token });
  assert.equal((await written).delivered, true);
  assert.equal(await kindOf('after'), 'acknowledged');
  assert.deepEqual(await network.received(shop, WITHOUT), ['after']);
});
