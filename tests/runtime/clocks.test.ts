/** Nodes whose clocks are hours off. Afterwards nothing waits for a time that such a node has stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardCount, shardOf } from '../../runtime/address.ts';
import { HOUR_MS } from '../../runtime/durations.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { deferred } from '../testbed/deferred.ts';
import { counterAddress } from './counter-behaviour.ts';
import { type MemoryNode, memoryNode } from './memory-node.ts';

const firstAddress = counterAddress('one');
const shard = shardOf('one');

function owned({ node }: MemoryNode): number {
  return node.shards().filter(({ isMine }) => isMine).length;
}

test('a node that starts with its clock ahead owns nothing and is not ready until the clock is put right', async () => {
  const node = await memoryNode({ aheadMs: 5 * HOUR_MS });
  await node.clock.advance(30_000);
  assert.deepEqual([owned(node), node.node.isReady()], [0, false]);
  assert.equal(node.node.counters.clockDisputes, 1);
  assert.ok(Math.abs(node.node.clockAheadMs() - 5 * HOUR_MS) < 100);
  assert.ok(node.log.errors.some((line) => line.includes('clocks')));
  node.own.putRight();
  await node.clock.advance(2_000);
  assert.deepEqual([owned(node), node.node.isReady()], [shardCount(), true]);
  assert.equal(await node.outcome(node.node.actors.ask(firstAddress, { type: 'add', by: 1 })), 1);
});

for (const stepMs of [5 * HOUR_MS, -5 * HOUR_MS]) {
  test(`a clock that steps ${stepMs / HOUR_MS} hours costs its node the shards, and no turn anywhere sees its time`, async () => {
    const told: number[] = [];
    const hooks = { timer: (_id: string, nowMs: number) => void told.push(nowMs) };
    const first = await memoryNode({ nodeId: 'a', hooks });
    const secondNode = await memoryNode({ nodeId: 'b', hooks, on: first });
    await first.clock.advance(5_000);
    const [home, otherNode] = first.node.actors.owns(shard) ? [first, secondNode] : [secondNode, first];
    home.own.stepWall(stepMs);
    // This is before the node checks Redis again.
    const asked = home.node.actors.ask(firstAddress, { type: 'wake', atMs: home.clock.wallMs() + 20_000 });
    await home.outcome(asked);
    assert.ok((home.redis.records()[shard]?.wallMs ?? 0) < home.clock.wallMs() + 10_000);
    await home.outcome(home.node.actors.ask(firstAddress, { type: 'live', on: true }));
    await home.clock.advance(5_000);
    assert.deepEqual([owned(home), owned(otherNode)], [0, shardCount()]);
    await home.clock.until(() => told.length > 0, 25_000);
    assert.ok(Math.abs((told[0] ?? 0) - home.clock.wallMs()) < 1_000, 'the timer came at its time');
    home.own.putRight();
    await home.clock.advance(5_000);
    assert.deepEqual([owned(home), owned(otherNode)], [shardCount() / 2, shardCount() / 2]);
  });
}

for (const stepMs of [HOUR_MS, 5_000]) {
  test(`after a step of ${stepMs} ms ahead, overdue timers and those due soon fire within two seconds`, async () => {
    const told: string[] = [];
    const hooks = { timer: (id: string) => void told.push(id) };
    const world = await memoryNode({ hooks });
    const { clock, node } = world;
    const wake = (afterMs: number): Promise<unknown> =>
      world.outcome(node.actors.ask(firstAddress, { type: 'wake', atMs: clock.wallMs() + afterMs }));
    await wake(stepMs);
    await clock.advance(500);
    // The clock of Redis steps with it, so the clocks agree.
    clock.stepWall(stepMs);
    await clock.advance(1_900);
    assert.equal(told.length, 1, 'what fell due');
    await wake(50);
    await clock.advance(100);
    assert.equal(told.length, 2, 'what is armed after the step');
    assert.equal(node.counters.clockDisputes, 0);
  });
}

test('after the clock steps a second back, a moment fires at its time by the wall clock, once', async () => {
  const told: number[] = [];
  const world = await memoryNode({ hooks: { timer: (_id, nowMs) => void told.push(nowMs) } });
  const { clock, node } = world;
  const atMs = clock.wallMs() + 3_000;
  await world.outcome(node.actors.ask(firstAddress, { type: 'wake', atMs }));
  clock.stepWall(-1_000);
  await clock.advance(3_900);
  assert.deepEqual(told, []);
  await clock.advance(200);
  assert.equal(told.length, 1);
  assert.ok(Math.abs((told[0] ?? 0) - atMs) < 100);
});

test('a moment that waits for a turn while the clock steps back fires once that moment comes again', async () => {
  const told: number[] = [];
  let turn = Promise.resolve();
  const hooks = {
    timer: (_id: string, nowMs: number) => void told.push(nowMs),
    readingFacts: ({ type }: { readonly type: string }) => (type === 'add' ? turn : undefined),
  };
  const world = await memoryNode({ hooks });
  const { clock, node } = world;
  const atMs = clock.wallMs() + 1_000;
  await world.outcome(node.actors.ask(firstAddress, { type: 'wake', atMs }));
  const { promise, resolve: endTurn } = deferred();
  turn = promise;
  const asked = world.outcome(node.actors.ask(firstAddress, { type: 'add', by: 1 }));
  await clock.advance(1_100);
  clock.stepWall(-5_000);
  endTurn();
  await asked;
  assert.deepEqual(told, []);
  await clock.advance(5_100);
  assert.equal(told.length, 1);
  assert.ok((told[0] ?? 0) >= atMs);
});

test('a node that is back and gets no answer to its new name takes another, and does not stop for the first', async () => {
  const world = await memoryNode();
  const { engine, clock, own } = world;
  const register = engine.register.bind(engine);
  const names: string[] = [];
  engine.register = async (nodeId, incarnation, leaseMs) => {
    names.push(incarnation);
    await register(nodeId, incarnation, leaseMs);
    if (names.length === 1) throw new RuntimeFailure('OUTCOME_UNKNOWN', 'injected');
  };
  own.stepWall(5 * HOUR_MS);
  await clock.advance(5_000);
  assert.equal(owned(world), 0);
  own.putRight();
  await clock.advance(5_000);
  assert.deepEqual([owned(world), world.node.isReady()], [shardCount(), true]);
  assert.equal(names.length, 2);
  assert.equal(world.node.incarnation, names[1]);
  // This call arrives at Redis again, from a connection that was given up.
  await world.outcome(register('a', names[0] ?? '', 15_000));
  await clock.until(() => world.node.incarnation !== names[1]);
  await clock.advance(5_000);
  assert.deepEqual([owned(world), world.node.isReady()], [shardCount(), true]);
});

test('a shard whose stored time is hours ahead continues at the present time', async () => {
  const told: number[] = [];
  const hooks = { timer: (_id: string, nowMs: number) => void told.push(nowMs) };
  const world = await memoryNode({ hooks });
  // Redis is on the same machine and steps with it, so all clocks agree.
  world.clock.stepWall(5 * HOUR_MS);
  await world.clock.advance(2_000);
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'add', by: 1 }));
  world.clock.stepWall(-5 * HOUR_MS);
  await world.clock.advance(5_000);
  assert.ok(world.log.errors.some((line) => line.includes('far ahead')));
  assert.equal(world.node.counters.shardsAhead, 1);
  const startedMs = world.clock.wallMs();
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'add', by: 1 })), 2);
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'wake', atMs: startedMs + 20_000 }));
  await world.clock.advance(21_000);
  assert.equal(told.length, 1, 'the timer came');
  assert.ok(Math.abs((told[0] ?? 0) - startedMs - 20_000) < 1_000);
  assert.ok(Math.abs((world.redis.records()[shard]?.wallMs ?? 0) - world.clock.wallMs()) < 5_000);
});

test('a reply of Redis that is seconds late is not a reason to distrust the clock', async () => {
  const world = await memoryNode();
  world.own.pause();
  await world.clock.advance(30_000);
  world.own.resume();
  await world.clock.advance(5_000);
  assert.equal(world.node.counters.clockDisputes, 0);
});
