import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEDGER_BOUND } from '../../policy/send-ledger.ts';
import { resolveSettings } from '../../policy/tenant-settings.ts';
import { poolShop } from './pool-exchange.ts';
import { ShopHarness } from './shop-harness.ts';

const HOUR_MS = 3_600_000;
const SENDS_A_DAY = 5;

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

for (const [whose, accept] of Object.entries(accepts)) {
  test(`a year of ${whose} messages leaves no more counted in the store than ever counts at a time`, async () => {
    const shop = await ShopHarness.connected();
    const { ledger } = shop.state.keys;
    let stored = 0;
    for (let round = 0; round < 365 * SENDS_A_DAY; round += 1) {
      accept(shop, `+3360${1_000_000 + round}`);
      shop.command({ type: 'session.unreachable' });
      shop.pass((24 * HOUR_MS) / SENDS_A_DAY);
      for (const [command, key, from] of shop.writes.splice(0)) {
        if (key !== ledger) continue;
        stored = command === 'LTRIM' ? Math.min(stored, -Number(from)) : stored + 1;
      }
    }
    assert.equal(stored, LEDGER_BOUND);
  });
}
