/**
 * An operator restarts an actor. The current turn ends first. The operator gets an answer, also if the actor stops or
 * crashes meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, shardKey } from '../../../runtime/address.ts';
import { deferred } from '../../testbed/deferred.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { type MemoryNode, memoryNode } from '../memory-node.ts';

const firstAddress = counterAddress('one');
const add = { type: 'add', by: 1 } as const;
const event = { type: 'event', does: 'add' } as const;
const read = { type: 'read' } as const;

interface World extends MemoryNode {
  /** The number of times that the actor was loaded. */
  readonly loads: () => number;
  /** The reason of each stop. */
  readonly stopped: readonly string[];
  /** Makes turns wait from now on, until `letGo` is called. */
  readonly hold: () => void;
  readonly letGo: () => void;
}

/** Returns a node with an active actor whose next turns can be held. */
async function worldOfOne(): Promise<World> {
  let loads = 0;
  const stopped: string[] = [];
  let held: ReturnType<typeof deferred<void>> | undefined;
  const world = await memoryNode({
    hooks: {
      loading: () => {
        loads += 1;
      },
      readingFacts: () => held?.promise,
      deactivated: (_, reason) => void stopped.push(reason),
    },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add));
  return {
    ...world,
    loads: () => loads,
    stopped,
    hold: () => {
      held = deferred();
    },
    letGo: () => {
      held?.resolve();
      held = undefined;
    },
  };
}

test('a restart waits for the current turn, other requests meanwhile get an error, and the actor is loaded once', async () => {
  const world = await worldOfOne();
  const { actors } = world.node;
  world.hold();
  const asked = world.outcome(actors.ask(firstAddress, add));
  let isRestarted = false;
  const restarts = [1, 2].map(() =>
    world.outcome(actors.restart(firstAddress).then(() => (isRestarted = true))),
  );
  await world.clock.advance(1_000);
  assert.deepEqual([isRestarted, world.loads()], [false, 1]);
  world.letGo();
  assert.equal(await asked, 2);
  assert.deepEqual(await Promise.all(restarts), [true, true]);
  assert.deepEqual([world.loads(), world.stopped], [2, ['reloaded']]);
  assert.equal(await world.outcome(actors.ask(firstAddress, read)), 2);
});

test('a restart that a stop overtakes ends, and the actor stays stopped', async () => {
  const world = await worldOfOne();
  const { actors } = world.node;
  world.hold();
  const asked = world.outcome(actors.ask(firstAddress, add));
  const restarted = world.outcome(actors.restart(firstAddress));
  const stopped = world.outcome(actors.passivate(firstAddress, { isForced: true }));
  await world.clock.advance(10);
  world.letGo();
  assert.equal(await asked, 2);
  assert.deepEqual(await Promise.all([restarted, stopped]), ['SHARD_NOT_OWNED', 'passivated']);
  assert.deepEqual([world.loads(), world.stopped], [1, ['passivated']]);
  assert.equal(actors.peek(firstAddress), undefined);
});

test('a restart asked for while the actor is being stopped brings nothing back', async () => {
  const world = await worldOfOne();
  const { actors } = world.node;
  world.hold();
  const asked = world.outcome(actors.ask(firstAddress, add));
  const stopped = world.outcome(actors.passivate(firstAddress, { isForced: true }));
  const restarted = world.outcome(actors.restart(firstAddress));
  await world.clock.advance(10);
  world.letGo();
  assert.deepEqual(await Promise.all([asked, stopped, restarted]), [2, 'passivated', 'SHARD_NOT_OWNED']);
  assert.equal(world.loads(), 1);
});

test('a restart whose shard is lost meanwhile ends, and the actor stays stopped', async () => {
  const world = await worldOfOne();
  const { actors } = world.node;
  world.hold();
  const asked = world.outcome(actors.ask(firstAddress, add));
  const restarted = world.outcome(actors.restart(firstAddress));
  await world.clock.advance(10);
  world.redis.changeOwner(
    firstAddress.shard,
    world.redis.records()[firstAddress.shard]?.epoch ?? 0,
    'other:1',
  );
  world.redis.register('other', 'other:1', 600_000);
  // This commit is for another actor of the same shard. The fence refuses it, and all actors of the shard stop.
  await world.outcome(
    world.node.store.commit(firstAddress.shard, [['SADD', `{s${firstAddress.shard}}:any`, 'x']]),
  );
  assert.equal(await restarted, 'SHARD_NOT_OWNED');
  assert.equal(await asked, 'SHARD_NOT_OWNED');
  world.letGo();
  await world.clock.advance(1_000);
  assert.deepEqual([world.loads(), world.stopped], [1, ['lost']]);
});

test('a restart loses no control command, also when Redis refuses the turn under way', async () => {
  const world = await worldOfOne();
  const { actors } = world.node;
  world.hold();
  actors.tell(firstAddress, event);
  const restarted = world.outcome(actors.restart(firstAddress));
  actors.tell(firstAddress, event);
  await world.clock.advance(10);
  world.callOutcome('refused', 1);
  world.letGo();
  await restarted;
  assert.equal(await world.outcome(actors.ask(firstAddress, read)), 3);
  assert.equal(world.loads(), 2);
});

test('an actor that is restarted before Redis took its first turn has one first turn, not two', async () => {
  const first = await memoryNode();
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
  await first.outcome(first.node.stop());
  // Its first turn writes the mark that it must live.
  first.redis.run(['SREM', shardKey(firstAddress.shard, 'awake'), addressText(firstAddress)]);
  const causes: unknown[] = [];
  const world = await memoryNode({
    on: first,
    hooks: {
      loading: () => {
        if (causes.length === 0) void world.clock.after(1, () => world.callOutcome('refused', 1));
      },
      activated: (_, cause) => void causes.push(cause),
    },
  });
  const { actors } = world.node;
  const shown = () => world.outcome(Promise.resolve(actors.state(firstAddress)));
  assert.equal(await shown(), 'STORE_UNAVAILABLE');
  assert.deepEqual(causes, ['activation']);
  await world.outcome(actors.restart(firstAddress));
  assert.equal(((await shown()) as { live: boolean }).live, true);
  await world.clock.advance(5_000);
  assert.deepEqual(causes, ['activation', 'activation']);
});
