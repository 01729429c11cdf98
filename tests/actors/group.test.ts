import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShopHarness } from './shop-harness.ts';

const GROUP_ID = '120363000000000001@g.us';

function groups(id: string, isAdmin: boolean) {
  const group = { id, name: 'Regulars', participantCount: 12, isAdmin, announce: false };
  return { type: 'session.groups', groups: [group] } as const;
}

/** A message to a group the shop administered when it was accepted, with a session that has only just come back. */
async function reconnected(): Promise<{ readonly shop: ShopHarness; readonly id: string }> {
  const shop = await ShopHarness.connected();
  shop.session(groups(GROUP_ID, true));
  const id = shop.send(GROUP_ID);
  shop.session({ type: 'session.closed', end: 'transient', statusCode: undefined, detail: '' });
  shop.pass(1_000);
  shop.session({ type: 'session.connected', phone: '33600000001', pairedAtMs: 1 });
  return { shop, id };
}

function composed(shop: ShopHarness, messageId: string): void {
  const dispatch = { body: shop.bodies.get(messageId), writer: undefined, audience: [] };
  shop.session({ type: 'session.composed', messageId }, { dispatch });
}

for (const [standing, told, fate] of [
  ['administered', groups(GROUP_ID, true), 'sending'],
  ['joined', groups(GROUP_ID, false), 'rejected GROUP_NOT_ADMINISTERED'],
  ['left', groups('120363000000000002@g.us', true), 'rejected GROUP_NOT_ADMINISTERED'],
] as const) {
  test(`a message to a group waits until the new session tells its groups; one that is ${standing}: ${fate}`, async () => {
    const { shop, id } = await reconnected();
    composed(shop, id);
    assert.equal(shop.statusOf(id), 'queued');
    shop.session(told);
    composed(shop, id);
    assert.equal(shop.statusOf(id), fate);
  });
}

test('a message to a group that waits for its session to tell its groups holds up no other, and nobody sees it written', async () => {
  const { shop, id } = await reconnected();
  const shownBefore = shop.effectsOf('compose').length;
  const others = [shop.send('+33600000010'), shop.send('+33600000011')];
  for (const other of others) {
    shop.toWire(other);
    shop.outcome(other, { kind: 'acknowledged' });
    assert.equal(shop.statusOf(other), 'sent');
    shop.pass(20_000);
  }
  assert.equal(shop.effectsOf('compose').length, shownBefore + others.length);
  shop.session(groups(GROUP_ID, true));
  composed(shop, id);
  assert.equal(shop.statusOf(id), 'sending');
});
