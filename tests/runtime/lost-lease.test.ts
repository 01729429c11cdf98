/** A node whose lease ended in Redis acts for no shard until it knows that no other node took it meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from '../../runtime/engine.ts';
import { DEFAULT_LIMITS } from '../../runtime/limits.ts';
import { Lease } from '../../runtime/ownership/lease.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { deferred } from '../testbed/deferred.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { counterAddress } from './counter-behaviour.ts';
import { type MemoryNode, memoryNode } from './memory-node.ts';

const firstAddress = counterAddress('one');
const add = { type: 'add', by: 1 } as const;
const lost = () => Promise.reject(new RuntimeFailure('OUTCOME_UNKNOWN', 'injected'));

type Call = 'renew' | 'changeOwner' | 'nodes' | 'read' | 'commit';

/** Replaces one kind of call to Redis, until the returned function is called. */
function replace<Name extends Call>(
  { engine }: MemoryNode,
  name: Name,
  make: (before: MemoryNode['engine'][Name]) => MemoryNode['engine'][Name],
): () => void {
  const before = engine[name];
  engine[name] = make(before.bind(engine) as typeof before);
  return () => {
    engine[name] = before;
  };
}

/** Ends the lease in Redis: no renewal arrives there. The node then learns it. */
async function loseLease(world: MemoryNode): Promise<void> {
  const mend = replace(world, 'renew', () => lost);
  await world.clock.until(() => world.node.leaseMarginMs() === 0);
  await world.clock.advance(10);
  mend();
}

/** Lets renewals arrive and loses their answers, until the node believes that its lease has ended. */
async function expireByOwnClock(world: MemoryNode): Promise<() => void> {
  const mend = replace(
    world,
    'renew',
    (before) =>
      (...call) =>
        before(...call).then(lost),
  );
  await world.clock.until(() => world.node.leaseMarginMs() === 0);
  return mend;
}

/** Returns a node under a new name. It does not learn the owners of its shards until `settle` is called. */
async function backAndAsking(): Promise<{ readonly world: MemoryNode; readonly settle: () => void }> {
  const world = await memoryNode();
  const { node, clock } = world;
  await world.outcome(node.actors.ask(firstAddress, add));
  const before = node.incarnation;
  const settle = replace(world, 'changeOwner', () => lost);
  await loseLease(world);
  await clock.until(() => node.incarnation !== before && node.leaseMarginMs() > 0);
  return { world, settle };
}

test('a lease that lapsed and was regained resumes no shard whose owner is still being checked', async () => {
  const { world, settle } = await backAndAsking();
  const { node, clock } = world;
  assert.ok(!node.actors.owns(firstAddress.shard), 'it was not asked yet');
  (await expireByOwnClock(world))();
  await clock.until(() => node.leaseMarginMs() > 0);
  assert.ok(!node.actors.owns(firstAddress.shard), 'it is not known yet');
  settle();
  await clock.until(() => node.actors.owns(firstAddress.shard));
  assert.equal(await world.outcome(node.actors.ask(firstAddress, add)), 2);
});

test('a shard that is known to be ours while the lease has lapsed continues with the lease', async () => {
  const { world, settle } = await backAndAsking();
  const { node, clock } = world;
  const renew = await expireByOwnClock(world);
  settle();
  await clock.until(() => world.redis.records()[firstAddress.shard]?.owner === node.incarnation);
  await clock.advance(500);
  assert.ok(!node.actors.owns(firstAddress.shard), 'the lease does not hold');
  renew();
  await clock.until(() => node.actors.owns(firstAddress.shard));
  assert.equal(await world.outcome(node.actors.ask(firstAddress, add)), 2);
});

test('a shard whose claim ended after the lease runs under the next lease only after a check', async () => {
  const world = await memoryNode();
  const { node, clock, redis } = world;
  await world.outcome(node.actors.ask(firstAddress, add));
  const { promise: held, resolve: answer } = deferred();
  let isClaiming = false;
  replace(world, 'read', (before) => async (reads) => {
    const isClaim = reads.some(([command]) => command === 'SMEMBERS');
    isClaiming ||= isClaim;
    if (isClaim) await held;
    return await before(reads);
  });
  redis.changeOwner(firstAddress.shard, redis.records()[firstAddress.shard]?.epoch ?? 0, undefined);
  await world.outcome(node.actors.ask(firstAddress, add));
  await clock.until(() => isClaiming);
  const { promise: looking, resolve: look } = deferred();
  const seen = replace(world, 'nodes', (before) => () => looking.then(before));
  const settle = replace(world, 'changeOwner', () => lost);
  const before = node.incarnation;
  await loseLease(world);
  await clock.advance(2_000);
  answer();
  await clock.advance(100);
  seen();
  look();
  await clock.until(() => node.incarnation !== before && node.leaseMarginMs() > 0);
  assert.ok(!node.actors.owns(firstAddress.shard), 'whose it is was not asked under this name');
  settle();
  await clock.until(() => node.actors.owns(firstAddress.shard));
  assert.equal(await world.outcome(node.actors.ask(firstAddress, add)), 2);
});

test('a shard whose outcome was settled between two incarnations runs under the next one only after a check', async () => {
  const world = await memoryNode();
  const { node, clock, redis } = world;
  await world.outcome(node.actors.ask(firstAddress, add));
  const before = node.incarnation;
  const settle = replace(world, 'changeOwner', () => lost);
  const commit = replace(
    world,
    'commit',
    () => async (sections) => sections.map(() => ({ code: 'unknown', message: 'injected' })),
  );
  assert.equal(await world.outcome(node.actors.ask(firstAddress, add)), 'OUTCOME_UNKNOWN');
  commit();
  const look = replace(world, 'nodes', () => lost);
  await loseLease(world);
  await clock.until(() => node.counters.leaseLosses === 1);
  settle();
  await clock.until(() => redis.records()[firstAddress.shard]?.epoch === 2);
  await clock.advance(100);
  const asked = replace(world, 'changeOwner', () => lost);
  redis.register('other', 'other:1', 600_000);
  redis.changeOwner(firstAddress.shard, 2, 'other:1');
  look();
  await clock.until(() => node.incarnation !== before && node.leaseMarginMs() > 0);
  assert.ok(!node.actors.owns(firstAddress.shard), 'another one has it');
  asked();
  await clock.advance(1_000);
  assert.equal(node.actors.peek(firstAddress), undefined);
});

test('a node that asks in vain for its new lease listens under one new name, however often it asks', async () => {
  const world = await memoryNode();
  const { node, clock, redis, engine } = world;
  const register = engine.register.bind(engine);
  engine.register = lost;
  await loseLease(world);
  await clock.until(() => node.counters.leaseLosses === 1);
  await clock.advance(1_000);
  const channels = redis.listeners.size;
  await clock.advance(60_000);
  assert.equal(redis.listeners.size, channels);
  engine.register = register;
  await clock.until(() => node.leaseMarginMs() > 0);
  assert.equal(await world.outcome(node.actors.ask(firstAddress, add)), 1);
});

test('a node that asks in vain for its new lease stops once another process has its node id, and takes nothing from it', async () => {
  const world = await memoryNode();
  const { node, clock, redis, engine, log } = world;
  const register = engine.register.bind(engine);
  engine.register = lost;
  await loseLease(world);
  await clock.until(() => node.counters.leaseLosses === 1);
  await clock.advance(1_000);
  redis.register('a', 'a:another', 600_000);
  engine.register = register;
  await clock.advance(60_000);
  assert.deepEqual(redis.nodes(), [{ nodeId: 'a', incarnation: 'a:another' }]);
  assert.ok(log.errors.some((line) => line.includes('another process runs under this node id')));
  assert.equal(node.actors.peek(firstAddress), undefined);
});

test('a node that hands over its shards while it asks for its new lease keeps none', async () => {
  const world = await memoryNode();
  const { node, clock, redis, engine } = world;
  const register = engine.register.bind(engine);
  const { promise: answered, resolve: answer } = deferred();
  let isAsking = false;
  engine.register = async (...call) => {
    isAsking = true;
    await register(...call);
    await answered;
  };
  await loseLease(world);
  await clock.until(() => isAsking);
  await world.outcome(node.handOver());
  answer();
  await clock.advance(6_000);
  assert.deepEqual([redis.nodes(), node.leaseMarginMs()], [[], 0]);
});

test('a node that hands over its shards while it asks for the other nodes takes no new lease', async () => {
  const world = await memoryNode();
  const { node, clock, redis } = world;
  const { promise: looking, resolve: look } = deferred();
  let isAsking = false;
  replace(world, 'nodes', (before) => async () => {
    const isFirst = !isAsking && node.counters.leaseLosses === 1;
    isAsking ||= isFirst;
    if (isFirst) await looking;
    return await before();
  });
  await loseLease(world);
  await clock.until(() => isAsking);
  await world.outcome(node.handOver());
  look();
  await clock.advance(6_000);
  assert.deepEqual([redis.nodes(), node.leaseMarginMs()], [[], 0]);
});

test('a lease that is granted after it was given up is never valid and is not renewed', async () => {
  const clock = new FakeClock();
  const granted = deferred();
  let renewals = 0;
  const engine = {
    register: () => granted.promise,
    renew: async () => {
      renewals += 1;
      return true;
    },
  };
  const unheard = (): void => undefined;
  const listener = { onExpired: unheard, onRegained: unheard, onEnded: unheard };
  const parts = { engine: engine as unknown as Engine, clock, limits: DEFAULT_LIMITS, listener };
  const lease = new Lease('node', parts);
  const taking = lease.take('first');
  lease.stop();
  granted.resolve();
  await taking;
  assert.deepEqual([lease.holds(), lease.isOver], [false, true]);
  await clock.advance(DEFAULT_LIMITS.leaseMs);
  assert.equal(renewals, 0);
});
