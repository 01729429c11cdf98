import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settledPlace } from '../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { poolShop } from './pool-exchange.ts';
import { ShopHarness } from './shop-harness.ts';

const HOUR_MS = 3_600_000;
const SENDS_PER_DAY = 5;
const RETENTION_DAYS = 30;

/** Accepts a message of the shop's own, or one that it carries for another. */
const accepts = {
  own: (shop: ShopHarness, to: string): string => shop.send(to),
  carried: (shop: ShopHarness, to: string): string => {
    const [sample] = shop.bodies.values();
    const id = sample?.id ?? shop.send();
    const origin = shop.bodies.get(id);
    assert.ok(origin);
    const messageId = `65f00000000000000${to.slice(-7)}`;
    const body = { ...origin, ...poolShop(0), id: messageId, to, createdAtMs: shop.nowMs };
    const command = {
      type: 'pool.take',
      body,
      known: false,
      settings: resolveSettings({}),
      open: true,
    } as const;
    shop.command(command, { carry: { record: undefined, writer: undefined } });
    return messageId;
  },
};

/** Ends what waits and what is in hand, which would be tried every minute of the year. */
function settle(shop: ShopHarness): void {
  shop.command({ type: 'session.unreachable' });
  const { inHand } = shop.state;
  if (inHand === undefined) return;
  shop.toWire(inHand.messageId);
  shop.outcome(inHand.messageId, { kind: 'acknowledged' });
}

for (const [whose, accept] of Object.entries(accepts)) {
  test(`of a year of ${whose} messages the list holds no more than was kept`, async () => {
    const shop = await ShopHarness.connected();
    const { accepted } = shop.state.keys;
    for (let round = 0; round < 365 * SENDS_PER_DAY; round += 1) {
      accept(shop, `+3360${1_000_000 + round}`);
      settle(shop);
      shop.pass((24 * HOUR_MS) / SENDS_PER_DAY);
      if (shop.effects.splice(0).some(({ type }) => type === 'cut_accepted')) shop.cutAccepted();
    }
    // The last one was the first of its day, and had the list cut.
    const kept = RETENTION_DAYS * SENDS_PER_DAY + 1;
    assert.equal(shop.redis.run(['LLEN', accepted]), kept);
    const { state } = await shop.successor('store');
    const settled = settledPlace(shop.state) - shop.state.accepted.cut;
    assert.equal(settledPlace(state), settled, 'what it says of the list is true of what is left');
  });
}

test('the first message of a shop cuts nothing from a list that is empty, the first of the next day does', async () => {
  const shop = await ShopHarness.connected();
  const cuts = () => shop.effects.splice(0).filter(({ type }) => type === 'cut_accepted').length;
  shop.send('+33601000000');
  settle(shop);
  assert.equal(cuts(), 0);
  shop.pass(25 * HOUR_MS);
  shop.send('+33601000001');
  assert.equal(cuts(), 1);
});
