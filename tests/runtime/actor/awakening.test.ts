import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Awakening } from '../../../runtime/actor/awakening.ts';
import { UNCLAIMED_RECORD } from '../../../runtime/engine.ts';
import { DEFAULT_LIMITS } from '../../../runtime/limits.ts';
import { OwnedShard } from '../../../runtime/ownership/owned-shard.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { memoryNode } from '../memory-node.ts';

test('a thousand actors come back at a steady pace over all shards, and callers are served meanwhile', async () => {
  const first = await memoryNode();
  const names = Array.from({ length: 1_000 }, (_, index) => `live-${index}`);
  const made = names.map((name) => first.node.actors.ask(counterAddress(name), { type: 'live', on: true }));
  await first.outcome(Promise.all(made.slice(0, 500)));
  await first.outcome(Promise.all(made.slice(500)));
  await first.outcome(first.node.stop());

  const backAtMs: number[] = [];
  const secondNode = await memoryNode({
    on: first,
    hooks: {
      activated: ({ id }) => void (id.startsWith('live') && backAtMs.push(first.clock.monotonicMs())),
    },
  });
  const startMs = secondNode.clock.monotonicMs();
  while (backAtMs.length < names.length) {
    const askedMs = secondNode.clock.monotonicMs();
    const guest = counterAddress(`guest-${askedMs}`);
    assert.equal(await secondNode.outcome(secondNode.node.actors.ask(guest, { type: 'add', by: 1 })), 1);
    assert.ok(secondNode.clock.monotonicMs() - askedMs < 50, 'served at once');
    await secondNode.clock.advance(100);
  }
  const tookMs = secondNode.clock.monotonicMs() - startMs;
  assert.ok(tookMs > 2_000 && tookMs < 4_000, `${tookMs} ms for a thousand at 20 in 50 ms`);
  const most = Math.max(
    ...backAtMs.map((from) => backAtMs.filter((atMs) => atMs >= from && atMs < from + 50).length),
  );
  assert.ok(most <= 40, `${most} within 50 ms`);
});

/** Returns the actors that are brought back, step by step, of the shards that a test adds. */
function steps() {
  const clock = new FakeClock();
  const back: string[] = [];
  const awakening = new Awakening(clock, DEFAULT_LIMITS, (_shard, text) => void back.push(text));
  const shardWith = (number: number, count: number): OwnedShard =>
    new OwnedShard(number, UNCLAIMED_RECORD, {
      awake: new Set(Array.from({ length: count }, (_, index) => `shop/${number}.${index}`)),
      suspended: new Set(),
    });
  return { clock, back, awakening, shardWith };
}

const { awakenPerStep, awakenStepMs } = DEFAULT_LIMITS;

test('an actor added right after a step that emptied the queue waits for the next', async () => {
  const { clock, back, awakening, shardWith } = steps();
  awakening.add(shardWith(1, awakenPerStep));
  await clock.advance(1);
  assert.equal(back.length, awakenPerStep);
  awakening.add(shardWith(2, 1));
  await clock.advance(awakenStepMs - 2);
  assert.equal(back.length, awakenPerStep);
  await clock.advance(2);
  assert.equal(back.length, awakenPerStep + 1);
});

test('no actor of a shard that was lost meanwhile comes back', async () => {
  const { clock, back, awakening, shardWith } = steps();
  const lostShard = shardWith(1, awakenPerStep + 1);
  awakening.add(lostShard);
  awakening.add(shardWith(2, 1));
  await clock.advance(1);
  lostShard.isDropped = true;
  await clock.advance(2 * awakenStepMs);
  assert.deepEqual(back.slice(awakenPerStep), ['shop/2.0']);
});
