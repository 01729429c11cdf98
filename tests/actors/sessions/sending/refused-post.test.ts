/**
 * A group post that the network refuses gives no member the group's key. The client counts its members as having the
 * key as soon as the post is on the wire. It would leave the key out of the next post, which no member could read, and
 * all would ask at once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const GROUP = '120363000000000555@g.us';
const MEMBERS = ['+33644000001', '+33644000002'];

for (const { code, refusals, outcome } of [
  { code: 429, refusals: 1, outcome: 'rate_limited' },
  { code: 479, refusals: 1, outcome: 'refused' },
  { code: 421, refusals: 2, outcome: 'refused' },
]) {
  test(`the post after one that was refused (${code}) is read by all, and asked for by no one`, async (context) => {
    const { network, shop, host, log, control, outcomeOf } = await pairedShop(context);
    const participants = [SHOP_PHONE, ...MEMBERS];
    await control.setGroup(GROUP, { name: 'Some', participants, admins: [SHOP_PHONE] });
    await control.ackErrors(SHOP_PHONE, code, refusals);
    host.order(shop, { type: 'prepare', order: textOrder('refused', { to: GROUP }) });
    assert.equal((await log.next(shop, 'session.send_outcome')).outcome.kind, outcome);
    assert.equal((await outcomeOf(textOrder('taken', { to: GROUP }))).kind, 'acknowledged');
    for (const phone of MEMBERS) assert.deepEqual(await network.received(shop, phone), ['taken']);
    const [session] = (await control.sessions()).items;
    assert.equal(session?.sent.stanzas, 1, 'the post that was taken, and no answer to a handset');
  });
}
