/** Redis refuses a commit because another node has the shard. Then nothing more happens here for the shard. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterAddress } from './counter-behaviour.ts';
import { memoryNode } from './memory-node.ts';

const firstAddress = counterAddress('one');
const add = { type: 'add', by: 1 } as const;

test('a turn after one that the fence refused does not run here, with or without writes', async () => {
  const turned: string[] = [];
  const performed: number[] = [];
  const world = await memoryNode({
    hooks: {
      readingFacts: ({ type }) => void turned.push(type) as undefined,
      performed: ({ total }) => void performed.push(total),
    },
  });
  const { node, redis } = world;
  await world.outcome(node.actors.ask(firstAddress, add));
  redis.register('other', 'other:1', 600_000);
  redis.changeOwner(firstAddress.shard, redis.records()[firstAddress.shard]?.epoch ?? 0, 'other:1');
  const asked = [add, { type: 'read' }, add].map((command) =>
    world.outcome(node.actors.ask(firstAddress, command)),
  );
  assert.deepEqual(await Promise.all(asked), ['SHARD_NOT_OWNED', 'SHARD_NOT_OWNED', 'SHARD_NOT_OWNED']);
  assert.deepEqual(turned, ['add', 'add']);
  assert.deepEqual(performed, [1]);
  assert.equal(node.actors.peek(firstAddress), undefined);
  assert.equal(node.counters.fenceRefusals, 1);
});

test('an effect of a commit finds no actor in a shard that the same answer refused', async () => {
  const two = counterAddress('two');
  const name = Array.from({ length: 10_000 }, (_, number) => `neighbour ${number}`).find(
    (id) => counterAddress(id).shard === two.shard,
  );
  const neighbour = counterAddress(name ?? '');
  let heard: Promise<unknown> | undefined;
  let isTold = false;
  const world = await memoryNode({
    hooks: {
      performed: (_effect, { id }) => {
        if (!isTold || id !== firstAddress.id) return;
        heard = node.actors.ask(neighbour, { type: 'read' }).catch(({ code }) => code);
      },
    },
  });
  const { node, redis } = world;
  for (const address of [firstAddress, two, neighbour]) await world.outcome(node.actors.ask(address, add));
  redis.register('other', 'other:1', 600_000);
  redis.changeOwner(two.shard, redis.records()[two.shard]?.epoch ?? 0, 'other:1');
  isTold = true;
  const asked = [firstAddress, two].map((address) => world.outcome(node.actors.ask(address, add)));
  assert.deepEqual(await Promise.all(asked), [2, 'SHARD_NOT_OWNED']);
  assert.equal(await heard, 'SHARD_NOT_OWNED');
});
