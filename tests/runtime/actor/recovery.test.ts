import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterAddress } from '../counter-behaviour.ts';
import { memoryNode } from '../memory-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

test('when a control command throws, the behaviour recovers, and then the actor restarts', async () => {
  const world = await memoryNode({ hooks: { recover: true } });
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  world.node.actors.tell(firstAddress, { type: 'event', does: 'throw' });
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 1_001);
  assert.equal(world.node.counters.restarts, 1);
  assert.deepEqual(await world.outcome(world.node.deadLetters.list()), [], 'only client commands are kept');
});

test('a control command that throws while Redis refuses commits is one crash, however often it is tried', async () => {
  const world = await memoryNode({ hooks: { recover: true } });
  const { node, engine, clock, log } = world;
  await world.outcome(node.actors.ask(firstAddress, add(1)));
  const commit = engine.commit.bind(engine);
  let refused = 0;
  engine.commit = async (sections) => {
    refused += 1;
    return sections.map(() => ({ code: 'unavailable', message: 'Redis is full' }));
  };
  node.actors.tell(firstAddress, { type: 'event', does: 'throw' });
  await clock.until(() => refused === 10);
  assert.deepEqual([node.counters.crashes, log.errors.length], [1, 1]);
  engine.commit = commit;
  await clock.until(() => node.counters.restarts === 1);
  assert.equal(node.counters.crashes, 1);
  node.actors.tell(firstAddress, { type: 'event', does: 'throw' });
  await clock.until(() => node.counters.restarts === 2);
  assert.equal(node.counters.crashes, 2, 'another one');
});

test('an error of the turn in the place of a control command is noted, also if the command was tried before', async () => {
  const { node, engine, clock, log, outcome } = await memoryNode({ hooks: { recover: true } });
  await outcome(node.actors.ask(firstAddress, add(1)));
  const commit = engine.commit.bind(engine);
  engine.commit = async (sections) => {
    engine.commit = async () => {
      engine.commit = commit;
      return [{ code: 'failed', message: 'a defect', failures: new Map([[0, 'the defect']]) }];
    };
    return sections.map(() => ({ code: 'unavailable', message: 'Redis is full' }));
  };
  node.actors.tell(firstAddress, { type: 'event', does: 'throw' });
  await clock.until(() => node.counters.restarts === 1);
  assert.deepEqual([node.counters.crashes, log.errors.length], [2, 2]);
});

test('a turn in the place of a control command is not tried again if Redis refuses one of its writes', async () => {
  const { node, engine, clock, outcome } = await memoryNode({ hooks: { recover: true } });
  await outcome(node.actors.ask(firstAddress, add(1)));
  const commit = engine.commit.bind(engine);
  engine.commit = async () => {
    engine.commit = commit;
    return [{ code: 'failed', message: 'a defect', failures: new Map([[0, 'the defect']]) }];
  };
  node.actors.tell(firstAddress, { type: 'event', does: 'throw' });
  await clock.until(() => node.counters.restarts === 1);
  assert.equal(await outcome(node.actors.ask(firstAddress, { type: 'read' })), 1);
});
