/** The records and events of an inbound message, and how long they are kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboundMode } from '../../../../actors/inbound-mode.ts';
import { dayOf, firstIdOfDay } from '../../../../actors/shops/records/message-days.ts';
import { DAY_MS } from '../../../../runtime/durations.ts';
import type { Write } from '../../../../runtime/store.ts';
import { ShopHarness } from '../shop-harness.ts';

const ANA = '+33612345678';

async function shopWithInbound(inbound: InboundMode): Promise<ShopHarness> {
  const shop = await ShopHarness.connected();
  shop.command({ type: 'tenant_inbound', inbound });
  return shop;
}

let stanzas = 0;

/** Returns the commit of one message. The session reports its text only if the tenant gets it. */
async function written(
  shop: ShopHarness,
  text = 'Hello',
  kind: 'text' | 'reaction' = 'text',
): Promise<readonly Write[]> {
  stanzas += 1;
  shop.writes.length = 0;
  const content = { kind, text, name: 'Ana', quotes: null, media: null } as const;
  const { generation } = shop.state.channel.context;
  await shop.ask({
    type: 'session.inbound',
    generation,
    from: ANA,
    lid: '123@lid',
    atMs: shop.nowMs,
    token: 't',
    text: kind === 'reaction' ? '' : text,
    wireId: `W${stanzas}`,
    ...(shop.state.inbound === 'none' ? {} : { content }),
  });
  return [...shop.writes];
}

const commands = (writes: readonly Write[]): string[] => writes.map(([command]) => command);

test('without events for inbound messages a message costs one write', async () => {
  const shop = await shopWithInbound('none');
  for (let message = 0; message < 2; message += 1) {
    const writes = await written(shop);
    assert.deepEqual(
      writes.map(([command, key]) => [command, key]),
      [['HSET', shop.state.keys.writers]],
    );
  }
});

test('with events for inbound messages a message costs a record, two marks and one event, in the same commit', async () => {
  for (const inbound of ['events', 'texts'] as const) {
    const shop = await shopWithInbound(inbound);
    await written(shop);
    const writes = await written(shop);
    assert.deepEqual(commands(writes).sort(), ['HSET', 'HSET', 'XADD', 'XTRIMOLD', 'ZADD', 'ZADD'], inbound);
  }
});

test('a reaction is published, and the STOP before it still counts', async () => {
  const shop = await shopWithInbound('texts');
  await written(shop, 'STOP');
  const writes = await written(shop, '👍', 'reaction');
  assert.ok(commands(writes).includes('XADD'));
  assert.deepEqual(
    writes.filter(([, key]) => key === shop.state.keys.writers),
    [],
  );
});

test('once a day the records get an expiry, and older ones leave the index, the marks and the people', async () => {
  const shop = await shopWithInbound('texts');
  const first = await written(shop);
  const oldest = dayOf(shop.nowMs) - 30;
  const ofKey = (writes: readonly Write[], command: string) => writes.filter(([name]) => name === command);
  const [records, ...people] = ofKey(first, 'PEXPIREAT');
  assert.equal(records?.[2], (dayOf(shop.nowMs) + 1) * DAY_MS + 30 * DAY_MS);
  // Never earlier than a former, longer retention set it.
  const peopleEndMs = (dayOf(shop.nowMs) + 2) * DAY_MS + 30 * DAY_MS;
  assert.deepEqual(
    people.map((expiry) => expiry.slice(1)),
    ['NX', 'GT'].map((option) => [shop.state.people.personIds, peopleEndMs, option]),
  );
  assert.deepEqual(ofKey(first, 'ZREMRANGEBYLEX'), [
    ['ZREMRANGEBYLEX', shop.state.keys.inbound, '-', `(${firstIdOfDay(oldest)}`],
  ]);
  assert.deepEqual(ofKey(first, 'ZREMRANGEBYSCORE'), [
    ['ZREMRANGEBYSCORE', shop.state.keys.inboundReceived, '-inf', shop.nowMs - 30 * DAY_MS],
  ]);
  const forgets = () => shop.effects.filter(({ type }) => type === 'forget_people');
  assert.deepEqual(forgets(), [{ type: 'forget_people', oldestDay: oldest - 1, today: dayOf(shop.nowMs) }]);
  assert.deepEqual(ofKey(await written(shop), 'PEXPIREAT'), []);
  shop.pass(DAY_MS);
  assert.equal(ofKey(await written(shop), 'PEXPIREAT').length, 3);
  assert.equal(forgets().length, 2);
});

test('a message that is marked as read leaves its day the expiry that it has', async () => {
  const shop = await shopWithInbound('texts');
  const record = (await written(shop)).find(([command]) => command === 'HSET');
  const [, key, id] = record ?? [];
  shop.writes.length = 0;
  const reply = await shop.ask({ type: 'mark_read', inboundId: String(id) });
  assert.equal((reply as { ok?: boolean }).ok, true, JSON.stringify(reply));
  const expiries = shop.writes.filter(([command]) => command === 'PEXPIREAT');
  assert.deepEqual(
    expiries.map(([, expiring, , ...options]) => [expiring, options]),
    [[key, ['NX']]],
  );
});
