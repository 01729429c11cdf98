/** How long the list of accepted messages keeps them, and the actor of a shop that sends no more. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedBefore } from '../../../../actors/shops/state/shop-state.ts';
import { resolveSettings } from '../../../../policy/tenant-settings.ts';
import { HOUR_MS } from '../../../../runtime/durations.ts';
import { poolShop } from '../pool/pool-exchange.ts';
import { ShopHarness } from '../shop-harness.ts';

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
      isTaken: false,
      settings: resolveSettings({}),
      isPoolOpen: true,
    } as const;
    shop.command(command, { record: undefined, writer: undefined });
    return messageId;
  },
};

/** Ends all messages that wait or are being sent, which would otherwise be tried every minute of the year. */
function settle(shop: ShopHarness): void {
  shop.command({ type: 'session.unreachable' });
  const { currentMessage } = shop.state;
  if (currentMessage === undefined) return;
  shop.toWire(currentMessage.messageId);
  shop.outcome(currentMessage.messageId, { kind: 'acknowledged' });
}

for (const [title, accept] of Object.entries(accepts)) {
  test(`after a year of ${title} messages the list has only those that are kept`, async () => {
    const shop = await ShopHarness.connected();
    const { accepted } = shop.state.keys;
    for (let round = 0; round < 365 * SENDS_PER_DAY; round += 1) {
      accept(shop, `+3360${1_000_000 + round}`);
      settle(shop);
      shop.pass((24 * HOUR_MS) / SENDS_PER_DAY);
      if (shop.effects.splice(0).some(({ type }) => type === 'cut_accepted'))
        await shop.ask({ type: 'cut_accepted' });
    }
    // The list is cut once a day.
    const kept = Number(shop.redis.run(['LLEN', accepted]));
    const least = RETENTION_DAYS * SENDS_PER_DAY;
    assert.ok(kept >= least && kept <= least + 2 * SENDS_PER_DAY, `${kept}`);
    const { state } = await shop.successor('store');
    const ended = endedBefore(shop.state) - shop.state.acceptedList.cut;
    assert.equal(endedBefore(state), ended, 'what it says of the list is true of what is left');
  });
}

test('a day with more cancelled messages than the caps allow leaves the list at one daily cut', async () => {
  const shop = await ShopHarness.connected();
  const { accepted } = shop.state.keys;
  shop.command({ type: 'pause' });
  const cut = async (): Promise<void> => {
    const cuts = shop.effects.splice(0).filter(({ type }) => type === 'cut_accepted');
    for (const _ of cuts) await shop.ask({ type: 'cut_accepted' });
    if (cuts.length > 0) await cut();
  };
  for (let count = 0; count < 1_600; count += 1) await shop.ask({ type: 'cancel', messageId: shop.send() });
  const lengths: unknown[] = [];
  for (let day = 0; day <= RETENTION_DAYS + 2; day += 1) {
    shop.pass(24 * HOUR_MS);
    await cut();
    const length = shop.redis.run(['LLEN', accepted]);
    if (length !== lengths.at(-1)) lengths.push(length);
  }
  assert.deepEqual(lengths, [1_600, 0]);
  assert.equal(endedBefore(shop.state), shop.state.acceptedList.cut);
});

test('a shop that sends no more keeps people only as long as their messages, and its actor lives until then', async () => {
  const shop = await ShopHarness.connected();
  const { accepted } = shop.state.keys;
  shop.effects.splice(0);
  shop.pass(25 * HOUR_MS);
  assert.deepEqual(shop.effects, [], 'there is nothing to cut yet');
  for (let index = 0; index < 3; index += 1) {
    shop.send(`+3360100000${index}`);
    settle(shop);
  }
  shop.session({ type: 'session.closed', end: 'logged_out', statusCode: 401, detail: '' });
  let days = 0;
  for (; shop.mustLive(); days += 1) {
    assert.ok(days <= RETENTION_DAYS + 2, 'it keeps its list for ever');
    shop.pass(24 * HOUR_MS);
    if (shop.effects.splice(0).some(({ type }) => type === 'cut_accepted'))
      await shop.ask({ type: 'cut_accepted' });
  }
  assert.ok(days > RETENTION_DAYS, `${days} days`);
  assert.equal(shop.redis.run(['LLEN', accepted]), 0);
  assert.deepEqual(shop.timers(), []);
});
