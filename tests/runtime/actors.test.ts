import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardOf } from '../../runtime/address.ts';
import { HOUR_MS } from '../../runtime/durations.ts';
import { deferred } from '../testbed/deferred.ts';
import { type CounterHooks, counterAddress } from './counter-behaviour.ts';
import { memoryNode } from './memory-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

test('a turn takes effect after its commit: state, effects, then the reply', async () => {
  const seen: string[] = [];
  const world = await memoryNode({
    hooks: {
      performed: ({ total }) => {
        const lastEntry = world.redis.history.at(-1);
        assert.ok(
          lastEntry?.writes.some((write) => write[3] === total),
          'the effect came before its commit',
        );
        seen.push(`effect ${total}, state ${world.node.actors.peek<{ total: number }>(firstAddress)?.total}`);
      },
    },
  });
  const asked = world.node.actors.ask(firstAddress, add(2)).then((reply) => seen.push(`reply ${reply}`));
  await world.outcome(asked);
  assert.deepEqual(seen, ['effect 2, state 2', 'reply 2']);
});

test('commands of one actor are handled one after another, in their order', async () => {
  const world = await memoryNode();
  const replies = await world.outcome(
    Promise.all([1, 2, 3, 4].map((amount) => world.node.actors.ask(firstAddress, add(amount)))),
  );
  assert.deepEqual(replies, [1, 3, 6, 10]);
});

test('an idle actor decides at once, past its mailbox; later commands wait for the commit', async () => {
  const begun: unknown[] = [];
  const replies: unknown[] = [];
  const world = await memoryNode({
    hooks: { readingFacts: (command) => void begun.push(command) as undefined },
  });
  const ask = (amount: number) =>
    world.node.actors.ask(firstAddress, add(amount)).then((reply) => replies.push(reply));
  await world.outcome(ask(1));
  begun.length = 0;
  const both = Promise.all([ask(2), ask(3)]);
  assert.deepEqual(begun, [add(2)], 'the first is decided, the second waits');
  assert.equal(world.node.actors.snapshot(firstAddress)?.mailbox.depth, 1);
  await world.outcome(both);
  assert.deepEqual(replies, [1, 3, 6]);
});

/**
 * Two counters in memory, of two shards. Their node has steps of 20 ms, and has just sent a group with a third shard.
 */
async function stepping(hooks: CounterHooks = {}) {
  const world = await memoryNode({ limits: { stepMs: 20 }, hooks });
  const [otherAddress, third] = [counterAddress('other'), counterAddress('third')];
  const addresses = [firstAddress, otherAddress, third];
  assert.equal(new Set(addresses.map(({ shard }) => shard)).size, 3);
  await world.outcome(Promise.all(addresses.map((address) => world.node.actors.ask(address, add(1)))));
  // Just after the end of a step.
  await world.clock.advance(21 - (world.clock.monotonicMs() % 20));
  void world.node.actors.ask(third, add(1));
  await world.clock.advance(1);
  const total = (address: typeof firstAddress) => world.node.actors.peek<{ total: number }>(address)?.total;
  return { ...world, other: otherAddress, total };
}

test('writes without a waiting caller leave together at the end of a step', async () => {
  const { node, clock, engine, other, total } = await stepping();
  const before = engine.commits;
  node.actors.tell(firstAddress, add(1));
  await clock.advance(5);
  node.actors.tell(other, add(1));
  await clock.advance(12);
  assert.equal(engine.commits, before);
  assert.deepEqual([total(firstAddress), total(other)], [1, 1]);
  await clock.advance(5);
  assert.equal(engine.commits, before + 1);
  assert.deepEqual([total(firstAddress), total(other)], [2, 2]);
});

test('writes without a waiting caller leave at once if no group left for a while', async () => {
  const { node, clock, engine, total } = await stepping();
  const before = engine.commits;
  await clock.advance(80);
  node.actors.tell(firstAddress, add(1));
  await clock.advance(3);
  assert.equal(engine.commits, before + 1);
  assert.equal(total(firstAddress), 2);
});

test('writes without a waiting caller leave at once with those of a caller', async () => {
  const { node, clock, engine, other, total } = await stepping();
  const before = engine.commits;
  node.actors.tell(firstAddress, add(1));
  await clock.advance(2);
  void node.actors.ask(other, add(1));
  await clock.advance(3);
  assert.equal(engine.commits, before + 1);
  assert.deepEqual([total(firstAddress), total(other)], [2, 2]);
  await clock.advance(50);
  assert.equal(engine.commits, before + 1);
});

test('a caller of an actor that commits a turn without a waiting caller does not wait for the end of a step', async () => {
  const { node, clock, total } = await stepping();
  node.actors.tell(firstAddress, add(1));
  await clock.advance(2);
  const asked = node.actors.ask(firstAddress, add(1));
  await clock.advance(6);
  assert.equal(total(firstAddress), 3);
  assert.equal(await asked, 3);
});

test('a caller that comes while a turn without a waiting caller reads its facts does not wait for the end of a step', async () => {
  const facts = deferred();
  const readingFacts: CounterHooks['readingFacts'] = ({ type }) =>
    type === 'event' ? facts.promise : undefined;
  const { node, clock, total } = await stepping({ readingFacts });
  node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  const asked = node.actors.ask(firstAddress, add(1));
  facts.resolve();
  await clock.advance(8);
  assert.equal(total(firstAddress), 3);
  assert.equal(await asked, 3);
});

test('a command that no mailbox would take is not decided at once either', async () => {
  const world = await memoryNode({ limits: { mailboxBytes: 50 } });
  await world.outcome(Promise.resolve(world.node.actors.state(firstAddress)));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'MAILBOX_FULL');
  assert.equal(world.node.counters.mailboxRefusals, 1);
});

for (const [turns, calls] of [
  [8, 1],
  [50, 2],
] as const) {
  test(`${turns} turns of one tick make ${calls} calls to Redis`, async () => {
    const world = await memoryNode();
    const names = Array.from({ length: turns }, (_, index) => `many-${index}`);
    const addToAll = (): Promise<unknown> =>
      Promise.all(names.map((name) => world.node.actors.ask(counterAddress(name), add(1))));
    await world.outcome(addToAll());
    const before = world.engine.commits;
    await world.outcome(addToAll());
    assert.equal(world.engine.commits - before, calls);
  });
}

test('a turn that writes nothing sends nothing to Redis', async () => {
  const world = await memoryNode();
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  const before = world.engine.commits;
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 1);
  assert.equal(world.engine.commits, before);
});

test('an actor that does not exist is answered with undefined, or with the given default', async () => {
  const world = await memoryNode();
  assert.equal(await world.outcome(world.node.actors.ask(counterAddress('nobody'), add(1))), undefined);
  assert.equal(await world.outcome(world.node.actors.ask(counterAddress('nobody'), add(1), 'none')), 'none');
  assert.equal(
    await world.outcome(Promise.resolve(world.node.actors.state(counterAddress('nobody')))),
    undefined,
  );
});

test('a mailbox refuses client commands beyond its count, and never control ones', async () => {
  let release: (() => void) | undefined;
  const world = await memoryNode({
    limits: { mailboxCount: 2 },
    hooks: {
      readingFacts: ({ type }) => {
        if (type !== 'read') return undefined;
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  const blocking = world.node.actors.ask(firstAddress, { type: 'read' });
  const waiting = [add(1), add(1)].map((command) => world.node.actors.ask(firstAddress, command));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'MAILBOX_FULL');
  for (let index = 0; index < 5; index += 1)
    world.node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  release?.();
  assert.deepEqual(await world.outcome(Promise.all([blocking, ...waiting])), [1, 7, 8], 'control goes first');
  assert.equal(world.node.counters.mailboxRefusals, 1);
});

test('a mailbox refuses client commands beyond its bytes, and those that waited too long', async () => {
  let release: (() => void) | undefined;
  const world = await memoryNode({
    limits: { mailboxBytes: 250, mailboxAgeMs: 1_000 },
    hooks: {
      readingFacts: ({ type }) => {
        if (type !== 'read') return undefined;
        return new Promise((resolve) => {
          release = resolve;
        });
      },
    },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  void world.node.actors.ask(firstAddress, { type: 'read' });
  const waiting = [world.node.actors.ask(firstAddress, add(1)), world.node.actors.ask(firstAddress, add(1))];
  const outcomes = Promise.allSettled(waiting);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'MAILBOX_FULL', 'bytes');
  await world.clock.advance(1_500);
  release?.();
  const settledResults = (await world.outcome(outcomes)) as PromiseSettledResult<unknown>[];
  assert.deepEqual(
    settledResults.map((result) => result.status === 'rejected' && result.reason.code),
    ['MAILBOX_FULL', 'MAILBOX_FULL'],
  );
});

test('a timer comes once at its time, also after a restart of the node and when the wall clock stepped', async () => {
  const fired: number[] = [];
  const hooks = { timer: (_id: string, nowMs: number) => void fired.push(nowMs) };
  const first = await memoryNode({ hooks });
  const dueAtMs = first.clock.wallMs() + 10_000;
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'wake', atMs: dueAtMs }));
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
  await first.clock.advance(5_000);
  assert.deepEqual(fired, []);
  first.engine.cut();
  await first.outcome(first.node.stop());
  const secondNode = await memoryNode({ hooks, on: first });
  await secondNode.clock.until(() => fired.length > 0);
  assert.ok(
    (fired[0] ?? 0) >= dueAtMs && (fired[0] ?? 0) < dueAtMs + 200,
    `${(fired[0] ?? 0) - dueAtMs} ms late`,
  );
  await secondNode.clock.advance(20_000);
  assert.equal(fired.length, 1);

  await secondNode.outcome(
    secondNode.node.actors.ask(firstAddress, { type: 'wake', atMs: secondNode.clock.wallMs() + HOUR_MS }),
  );
  secondNode.clock.stepWall(HOUR_MS);
  await secondNode.clock.advance(61_000);
  assert.equal(fired.length, 2, 'a step forwards is noticed within a minute');
});

test('time never runs behind the last commit of the shard, neither in Redis nor for a turn', async () => {
  const told: number[] = [];
  const world = await memoryNode({ hooks: { timer: (_id, nowMs) => void told.push(nowMs) } });
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  const committedMs = world.redis.records()[shardOf('one')]?.wallMs ?? 0;
  world.clock.stepWall(-60_000);
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'wake', atMs: world.clock.wallMs() }));
  await world.clock.until(() => told.length > 0);
  assert.deepEqual(told, [committedMs]);
  assert.equal(world.redis.records()[shardOf('one')]?.wallMs, committedMs);
});

test('actors that must live come back by themselves, a few at a time; the others when they are asked', async () => {
  const back: string[] = [];
  const first = await memoryNode();
  const names = Array.from({ length: 30 }, (_, index) => `live-${index}`);
  for (const name of names)
    await first.outcome(first.node.actors.ask(counterAddress(name), { type: 'live', on: true }));
  await first.outcome(first.node.actors.ask(counterAddress('live-0'), { type: 'live', on: false }));
  await first.outcome(first.node.actors.ask(firstAddress, add(7)));
  await first.outcome(first.node.stop());
  const secondNode = await memoryNode({
    on: first,
    limits: { awakenPerStep: 10, awakenStepMs: 1_000 },
    hooks: { activated: ({ id }) => void back.push(id) },
  });
  await secondNode.clock.advance(500);
  assert.equal(back.length, 10);
  await secondNode.clock.advance(3_000);
  assert.deepEqual([...back].sort(), names.slice(1).sort());
  assert.equal(await secondNode.outcome(secondNode.node.actors.ask(firstAddress, { type: 'read' })), 7);
});

test('an idle actor that need not live is stopped, and comes back from Redis', async () => {
  const stopped: string[] = [];
  const world = await memoryNode({
    hooks: { deactivated: ({ id }, reason) => void stopped.push(`${id} ${reason}`) },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add(3)));
  await world.outcome(world.node.actors.ask(counterAddress('live'), { type: 'live', on: true }));
  await world.clock.advance(320_000);
  assert.deepEqual(stopped, ['one passivated']);
  assert.equal(world.node.actors.peek(firstAddress), undefined);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 3);
});

test('an operator cannot passivate an actor that must live; erasure can, and it does not come back', async () => {
  const world = await memoryNode();
  const liveAddress = counterAddress('live');
  const mark = `{s${liveAddress.shard}}:awake`;
  await world.outcome(world.node.actors.ask(liveAddress, { type: 'live', on: true }));
  assert.equal(world.redis.values.has(mark), true);
  assert.equal(await world.outcome(world.node.actors.passivate(liveAddress)), 'refused');
  assert.equal(
    await world.outcome(world.node.actors.passivate(liveAddress, { isForced: true })),
    'passivated',
  );
  await world.clock.advance(100);
  assert.equal(world.redis.values.has(mark), false);
});

test('an operator cannot passivate an actor that must live and waits after a crash, nor one that is just deciding to', async () => {
  const world = await memoryNode();
  const { actors } = world.node;
  await world.outcome(actors.ask(firstAddress, add(1)));
  const live = world.outcome(actors.ask(firstAddress, { type: 'live', on: true }));
  const passivated = world.outcome(actors.passivate(firstAddress));
  assert.deepEqual(await Promise.all([live, passivated]), [1, 'refused']);
  actors.tell(firstAddress, { type: 'event', does: 'throw' });
  assert.equal(actors.snapshot(firstAddress)?.status, 'backoff');
  assert.equal(await world.outcome(actors.passivate(firstAddress)), 'refused');
  await world.clock.advance(1_000);
  assert.equal(actors.snapshot(firstAddress)?.status, 'active');
});
