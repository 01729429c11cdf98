/** No message stays queued for ever, not even one of a shop that waits for an operator and has no turns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinal } from '../../../actors/message-status.ts';
import { carriedKey } from '../../../actors/shops/records/carried-message.ts';
import { messageLookup } from '../../../actors/shops/records/message-days.ts';
import { DAY_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import type { Write } from '../../../runtime/store.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { ShopHarness } from './shop-harness.ts';

const isOver = (harness: ShopHarness, id: string): boolean =>
  isFinal(harness.messages.get(id)?.status ?? 'queued');
const ordersOf = (harness: ShopHarness): string[] =>
  harness.effectsOf('prepare').map(({ order }) => order.messageId);

test('a message that may be on the wire fails BOT_RESTARTED, and waiting ones continue to wait for ten minutes', async () => {
  const harness = await ShopHarness.connected();
  const first = harness.send('+33611110001');
  harness.toWire(first);
  const second = harness.send('+33611110002');
  assert.equal(harness.statusOf(first), 'sending');
  const sinceMs = harness.nowMs;
  await harness.checkSuspended(sinceMs);
  assert.deepEqual([harness.statusOf(first), harness.statusOf(second)], ['failed BOT_RESTARTED', 'queued']);
  harness.nowMs += 10 * MINUTE_MS - 1;
  await harness.checkSuspended(sinceMs);
  assert.equal(harness.statusOf(second), 'queued');
  harness.nowMs += 1;
  await harness.checkSuspended(sinceMs);
  assert.equal(harness.statusOf(second), 'failed BOT_SERVICE_UNREACHABLE');
});

test('each end is published to the tenant once, in its own commit', async () => {
  const harness = await ShopHarness.connected();
  const first = harness.send('+33611110001');
  harness.toWire(first);
  const second = harness.send('+33611110002');
  const sinceMs = harness.nowMs;
  const told = async (): Promise<unknown[]> => {
    harness.writes.length = 0;
    harness.effects.length = 0;
    await harness.checkSuspended(sinceMs);
    return harness.writes
      .filter(([command]) => command === 'XADD')
      .map((write) => [write[write.indexOf('t') + 1], write[write.indexOf('d') + 1]]);
  };
  assert.deepEqual(await told(), [['message.failed', first]]);
  assert.equal(harness.effectsOf('announce_events').length, 1);
  assert.deepEqual(await told(), []);
  harness.nowMs += 10 * MINUTE_MS;
  assert.deepEqual(await told(), [['message.failed', second]]);
  assert.deepEqual(await told(), []);
});

test('a node that took the shop over just now still ends what has waited for a day', async () => {
  const harness = await ShopHarness.connected();
  harness.command({ type: 'pause' });
  const id = harness.send();
  harness.nowMs += DAY_MS;
  await harness.checkSuspended(harness.nowMs);
  assert.equal(harness.statusOf(id), 'failed EXPIRED');
});

test('queued messages of a suspended shop end even if its stored state cannot be read', async () => {
  const harness = await ShopHarness.connected();
  harness.command({ type: 'pause' });
  const [id, broken] = [harness.send('+33611110001'), harness.send('+33611110002')];
  harness.redis.run(['HSET', harness.state.keys.shop, 'actor', '{']);
  assert.ok(broken);
  harness.nowMs += 11 * MINUTE_MS;
  await harness.checkSuspended(harness.nowMs - 10 * MINUTE_MS);
  assert.equal(harness.statusOf(id), 'failed BOT_SERVICE_UNREACHABLE');
});

const UNREADABLE: readonly (readonly [
  record: string,
  write: (harness: ShopHarness, broken: string) => Write,
  reports: number,
])[] = [
  ['a message that is no JSON', (harness, broken) => fieldWrite(harness, broken, 0, '{'), 0],
  ['a message that is null', (harness, broken) => fieldWrite(harness, broken, 0, 'null'), 1],
  ['a state that is null', (harness, broken) => fieldWrite(harness, broken, 1, 'null'), 1],
  [
    'a message at the pool that is null',
    ({ state }, broken) => ['HSET', state.keys.pooled, broken, 'null'],
    1,
  ],
  [
    'a carried message whose state is null',
    ({ state }) => ['HSET', carriedKey(state.shard, CARRIED), 'body', '{}', 'state', 'null'],
    1,
  ],
];

const CARRIED = '66b1f0a2c3d4e5f607182905';

/** Writes a field of a stored message by its place in the lookup. */
function fieldWrite({ state }: ShopHarness, messageId: string, place: number, text: string): Write {
  const [, key, ...fields] = messageLookup(state.shard, messageId);
  return ['HSET', key, fields[place] ?? '', text];
}

for (const [record, write, reports] of UNREADABLE) {
  test(`${record} delays no other message of a suspended shop, and is reported unless it is no JSON`, async () => {
    const harness = await ShopHarness.connected();
    harness.command({ type: 'pause' });
    const [broken, id] = [harness.send('+33611110001'), harness.send('+33611110002')];
    harness.redis.run(['ZADD', harness.state.keys.carried, 1, CARRIED]);
    harness.redis.run(write(harness, broken));
    harness.nowMs += 11 * MINUTE_MS;
    await harness.checkSuspended(harness.nowMs - 10 * MINUTE_MS);
    assert.equal(harness.statusOf(id), 'failed BOT_SERVICE_UNREACHABLE');
    assert.equal(harness.unreadable.length, reports);
    // The broken one waits for an operator, also at the pool. The carried one is another shop's.
    if (!record.startsWith('a carried')) assert.equal(isOver(harness, broken), false);
  });
}

test('at any times of suspension and resumption, messages end in time, go out at most once, and load as stored', async (context) => {
  const { seed, numRuns } = propertyRuns(context, 150);
  for (let run = 0; run < numRuns; run += 1) {
    const random = seededRandom(seed + run);
    const upTo = (bound: number): number => Math.floor(random() * bound);
    const harness = await ShopHarness.connected(seed + run);
    const createdAtMs = new Map<string, number>();
    for (let step = 0, steps = 1 + upTo(12); step < steps; step += 1) {
      const deed = upTo(5);
      const { currentMessage } = harness.state;
      if (deed <= 1) createdAtMs.set(harness.send(`+336111${10_000 + upTo(9_999)}`), harness.nowMs);
      else if (deed === 2) harness.pass(upTo(60_000));
      else if (deed === 3 && currentMessage && harness.state.pacing.value === 'preparing')
        harness.toWire(currentMessage.messageId);
      else if (currentMessage && harness.state.pacing.value === 'sending')
        harness.outcome(currentMessage.messageId, { kind: 'acknowledged' });
    }
    const ids = [...harness.bodies.keys()];
    const sinceMs = harness.nowMs;
    for (let look = 0, looks = 1 + upTo(4); look < looks; look += 1) {
      harness.nowMs += upTo(3) === 0 ? upTo(DAY_MS) : upTo(12 * MINUTE_MS);
      await harness.checkSuspended(sinceMs);
      for (const id of ids) {
        const waited = harness.nowMs - Math.max(sinceMs, createdAtMs.get(id) ?? 0);
        const must = waited >= 10 * MINUTE_MS || harness.statusOf(id) === 'sending';
        assert.ok(!must || isOver(harness, id), `seed ${seed + run}: ${id} ${harness.statusOf(id)}`);
      }
    }
    const ended = new Set(ids.filter((id) => isOver(harness, id)));
    const next = await harness.successor('store');
    const loaded = [...next.state.queue, ...(next.state.currentMessage ? [next.state.currentMessage] : [])];
    assert.deepEqual(
      loaded.map(({ messageId }) => messageId).sort(),
      ids.filter((id) => !isOver(harness, id)).sort(),
      `seed ${seed + run}: the queue is what has not ended`,
    );
    const told = ids.filter((id) => ended.has(id) && next.messages.has(id));
    assert.deepEqual(told, [], `seed ${seed + run}: an end is published once`);
    const secondIds = ordersOf(next).filter((id) => ordersOf(harness).includes(id));
    assert.deepEqual(secondIds, [], `seed ${seed + run}: nothing is on the wire twice`);
  }
});
