/** A node that was started and does not run yet: its actors are registered in this time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assembleNode, type RuntimeNode } from '../../../runtime/node/node.ts';
import { ProcessClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { counterAddress, counterBehaviour } from '../counter-behaviour.ts';
import { MemoryEngine } from '../memory-engine.ts';
import { type MemoryNode, memoryNode } from '../memory-node.ts';
import { TEST_CIPHERS } from '../test-ciphers.ts';

/** Starts a node beside another one. It was asked for a check, and it does not run. */
async function startedNode(
  first: MemoryNode,
  nodeId: string,
  aheadMs = 0,
): Promise<{ node: RuntimeNode; log: QuietLog }> {
  const clock = new ProcessClock(first.clock);
  clock.stepWall(aheadMs);
  const log = new QuietLog();
  const node = assembleNode(new MemoryEngine(first.redis, { clock: first.clock }), {
    nodeId,
    clock,
    random: () => 0.5,
    log,
    ...TEST_CIPHERS,
    afterTick: (callback) => void clock.after(0, callback),
  });
  assert.equal(
    await first.outcome(node.link.call(0, 'to an owner that it does not know', 100)),
    'SHARD_NOT_OWNED',
  );
  return { node, log };
}

const owned = (node: RuntimeNode): number => node.shards().filter(({ isMine }) => isMine).length;

test('a node takes no shard before it runs, and then wakes all actors that must live', async () => {
  const first = await memoryNode();
  const addresses = Array.from({ length: 40 }, (_, index) => counterAddress(`live-${index}`));
  const { actors } = first.node;
  await first.outcome(
    Promise.all(addresses.map((address) => actors.ask(address, { type: 'live', on: true }))),
  );
  const { node, log } = await startedNode(first, 'b');
  await first.clock.advance(5_000);
  assert.deepEqual([owned(first.node), owned(node)], [128, 0]);
  assert.deepEqual([node.incarnation, node.leaseMarginMs(), node.isReady()], ['', 0, false]);

  node.register(counterBehaviour());
  await first.outcome(node.run());
  await first.clock.until(() => owned(node) === 64);
  const moved = addresses.filter(({ shard }) => node.actors.owns(shard));
  assert.ok(moved.length > 10);
  await first.clock.until(() => moved.every((address) => node.actors.peek(address) !== undefined));
  assert.deepEqual(log.errors, []);
  await first.outcome(node.stop());
});

test('a node that is stopped before it runs announces nothing to the others', async () => {
  const first = await memoryNode();
  const { node } = await startedNode(first, 'b');
  const notices: string[] = [];
  await first.outcome(first.engine.subscribe('{runtime}:changes', (notice) => void notices.push(notice)));
  await first.outcome(node.stop());
  assert.deepEqual(notices, []);
});

test('a node that is stopped before it runs ends no other process under its id, even if its clock is off', async () => {
  const first = await memoryNode();
  const { node, log } = await startedNode(first, 'a', 3_600_000);
  await first.clock.advance(1_000);
  await first.outcome(node.stop());
  await first.clock.advance(10_000);
  assert.deepEqual(log.errors, []);
  assert.deepEqual([first.node.isReady(), owned(first.node)], [true, 128]);
});
