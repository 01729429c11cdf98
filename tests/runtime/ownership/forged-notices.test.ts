/** Notices of changes of ownership are not sealed. A forged one takes no shard from its owner, and its harm passes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { type MemoryNode, memoryNode } from '../memory-node.ts';

const owned = ({ node }: MemoryNode): number => node.shards().filter(({ isMine }) => isMine).length;
const forge = ({ engine }: MemoryNode, notice: string): void =>
  void engine.publish('{runtime}:changes', notice);

/** Starts two nodes, and waits until each owns half of the shards. */
async function twoNodes(): Promise<[a: MemoryNode, b: MemoryNode]> {
  const a = await memoryNode({ nodeId: 'a' });
  const b = await memoryNode({ nodeId: 'b', on: a });
  await a.clock.until(() => owned(a) === 64 && owned(b) === 64);
  return [a, b];
}

test('a node whose stop others announce again and again still takes the shards of a node that died', async () => {
  const [a, b] = await twoNodes();
  const again = (): void => {
    forge(b, `stopping ${a.node.incarnation}\nstopping ${b.node.incarnation}`);
    b.clock.after(500, again);
  };
  again();
  await a.clock.advance(3_000);
  assert.deepEqual([owned(a), owned(b)], [64, 64]);
  a.own.kill();
  a.engine.cut();
  await a.clock.advance(10_000);
  assert.equal(owned(b), 128);
});

test('a node whose stop another one announced gets its share once a stop would be over', async () => {
  const [a, b] = await twoNodes();
  forge(a, `stopping ${b.node.incarnation}`);
  forge(a, `stopping ${a.node.incarnation}`);
  const c = await memoryNode({ nodeId: 'c', on: a });
  forge(a, `stopping ${c.node.incarnation}`);
  await a.clock.advance(5_000);
  assert.deepEqual([owned(a), owned(b), owned(c)], [64, 64, 0]);
  await a.clock.advance(6_000);
  assert.deepEqual([owned(a), owned(b), owned(c)], [43, 43, 42]);
});

test('a node whose stop takes long gets no share, since every notice that it sends is believed', async () => {
  const a = await memoryNode({ nodeId: 'a' });
  const b = await memoryNode({
    nodeId: 'b',
    on: a,
    limits: { settleMs: MINUTE_MS },
    // A counter with the total 1 has work in progress, which the event settles.
    hooks: { settled: ({ total }) => total !== 1 },
  });
  await a.clock.until(() => owned(a) === 64 && owned(b) === 64);
  const [early, late] = Array.from({ length: 20 }, (_, index) => counterAddress(`${index}`)).filter(
    ({ shard }) => b.node.shards()[shard]?.isMine,
  );
  assert.ok(early && late && early.shard !== late.shard);
  for (const address of [early, late])
    await b.outcome(b.node.actors.ask(address, { type: 'add', by: 1 } as const));
  const stopped = b.node.stop();
  await a.clock.advance(5_000);
  assert.equal(owned(a), 126);
  b.node.actors.tell(early, { type: 'event', does: 'add' });
  await a.clock.advance(6_000);
  assert.equal(owned(a), 127);
  b.node.actors.tell(late, { type: 'event', does: 'add' });
  await b.outcome(stopped);
  await a.clock.until(() => owned(a) === 128);
});

test('a forged owner of a shard is believed until the next check, a moment later', async () => {
  const [a] = await twoNodes();
  const owner = a.node.link.ownerOf(0);
  forge(a, '0 nobody:1 999 1 1');
  await a.clock.advance(50);
  assert.deepEqual(a.node.link.ownerOf(0), owner);
});
