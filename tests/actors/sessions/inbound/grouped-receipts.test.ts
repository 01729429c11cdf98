/** One stanza may carry the receipts of several messages, or of several members of a group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StanzaReceipt } from '../../../../actors/sessions/session-events.ts';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const MEMBERS = ['+33644000001', '+33644000002', '+33644000003'];
const GROUP = '120363000000000777@g.us';

async function send({ host, log }: SimulatedNetwork, shop: SessionAddress, to: string): Promise<string> {
  const order = textOrder(`to ${to}`, { to });
  host.order(shop, { type: 'prepare', order });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
  return order.wireId;
}

/** Returns the next `count` receipts, and confirms each when it comes. */
async function reported(
  { host, log }: SimulatedNetwork,
  shop: SessionAddress,
  count: number,
): Promise<readonly StanzaReceipt[]> {
  const all: StanzaReceipt[] = [];
  while (all.length < count) {
    const { token, receipts } = await log.next(shop, 'session.receipts');
    host.order(shop, { type: 'confirm', token });
    all.push(...receipts);
  }
  return all;
}

test('a phone reports several messages as read in one stanza, and each of them is reported', async (context) => {
  const { network, shop } = await pairedShop(context);
  const wireIds: string[] = [];
  for (let index = 0; index < 3; index += 1) wireIds.push(await send(network, shop, PERSON));
  await reported(network, shop, wireIds.length);
  assert.equal((await network.control.sendReceipts(PERSON, { to: SHOP_PHONE })).count, wireIds.length);
  const read = await reported(network, shop, wireIds.length);
  assert.deepEqual(
    read.map(({ wireId, kind, from }) => [wireId, kind, from]),
    wireIds.map((wireId) => [wireId, 'read', PERSON]),
  );
});

for (const [title, isMixed] of [
  ['of one type', false],
  ['each of its own type', true],
] as const) {
  test(`the receipts of many members in one stanza, ${title}, are reported for each member`, async (context) => {
    const { network, shop } = await pairedShop(context);
    await network.control.setGroup(GROUP, {
      name: 'Some',
      participants: [SHOP_PHONE, ...MEMBERS],
      addressingMode: 'pn',
    });
    const wireId = await send(network, shop, GROUP);
    await reported(network, shop, MEMBERS.length);
    const [first = '', ...others] = MEMBERS;
    const sent = isMixed ? { delivered: [first], read: others } : { read: MEMBERS };
    await network.control.sendGroupedReceipt(GROUP, { to: SHOP_PHONE, messageId: wireId, ...sent });
    const told = await reported(network, shop, MEMBERS.length);
    assert.deepEqual(
      told.map(({ wireId, kind, from, group }) => [wireId, kind, from, group]),
      MEMBERS.map((member) => [wireId, isMixed && member === first ? 'delivered' : 'read', member, GROUP]),
    );
  });
}
