/** A node that hands over its shards keeps its lease until all of them are handed over, and takes no other lease. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Address } from '../../runtime/address.ts';
import { counterAddress, counterKey } from './counter-behaviour.ts';
import { memoryNode } from './memory-node.ts';

const add = { type: 'add', by: 1 } as const;
const settle = { type: 'event', does: 'add' } as const;

test('a stop waits for the hand-over that another node began, and stores an outcome that comes meanwhile', async () => {
  const performed: number[] = [];
  const drained: Address[] = [];
  const world = await memoryNode({
    hooks: {
      // An actor with the total 1 has work in progress, which the event settles.
      settled: ({ total }) => total !== 1,
      drained: (address) => void drained.push(address),
      performed: ({ total }) => void performed.push(total),
    },
  });
  const { node, clock, redis } = world;
  // Two shards have data, and one of them goes to the node that joins.
  const addresses = ['one', 'three'].map(counterAddress);
  for (const address of addresses) await world.outcome(node.actors.ask(address, add));
  await memoryNode({ nodeId: 'b', on: world });
  await clock.until(() => drained.length === 1);
  const [moving] = drained as [Address];
  for (const { id } of addresses) if (id !== moving.id) node.actors.tell(counterAddress(id), settle);
  await clock.until(() => performed.length === 3);
  const handedOver = node.handOver();
  await clock.advance(100);
  assert.deepEqual(
    redis.records().flatMap(({ owner }, shard) => (owner === node.incarnation ? [shard] : [])),
    [moving.shard],
  );
  assert.ok(node.leaseMarginMs() > 0, 'it still acts for the shard');
  node.actors.tell(moving, settle);
  await world.outcome(handedOver);
  assert.deepEqual(performed, [1, 1, 2, 2]);
  assert.equal(redis.run(['HGET', counterKey(moving.id), 'total']), '2');
  assert.notEqual(redis.records()[moving.shard]?.owner, node.incarnation);
});
