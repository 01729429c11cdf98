/** A turn whose writes fail crashes its actor, and no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterAddress, counterKey } from './counter-behaviour.ts';
import { memoryNode } from './memory-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

test('a write of the wrong type crashes its actor alone; the other commits of its group are applied', async () => {
  const world = await memoryNode();
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  const [brokenResult, fine] = (await world.outcome(
    Promise.allSettled([
      world.node.actors.ask(firstAddress, { type: 'wrong_type' }),
      world.node.actors.ask(counterAddress('other'), add(1)),
    ]),
  )) as PromiseSettledResult<unknown>[];
  assert.equal(brokenResult?.status === 'rejected' && brokenResult.reason.code, 'POISONED');
  assert.equal(fine?.status === 'fulfilled' && fine.value, 1);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 1);
});

test('a turn that a defect kept from Redis crashes its actor alone; the other turns of its shard are applied', async () => {
  const performed: string[] = [];
  const { node, engine, outcome } = await memoryNode({
    hooks: { performed: ({ total }, { id }) => void performed.push(`${id} ${total}`) },
  });
  const { shard } = firstAddress;
  const ids = Array.from({ length: 10_000 }, (_, index) => `counter-${index}`);
  const [before, after] = ids.map(counterAddress).filter((address) => address.shard === shard);
  assert.ok(before !== undefined && after !== undefined);
  const commit = engine.commit.bind(engine);
  engine.commit = async ([section]) => {
    engine.commit = commit;
    assert.equal(section?.entries.length, 3);
    return [{ code: 'failed', message: 'a defect', failures: new Map([[1, 'the defect']]) }];
  };
  const asked = [before, firstAddress, after].map((address) => outcome(node.actors.ask(address, add(1))));
  assert.deepEqual(await Promise.all(asked), [1, 'POISONED', 1]);
  const totals = [before, firstAddress, after].map(({ id }) => ['HGET', counterKey(id), 'total'] as const);
  assert.deepEqual(await outcome(node.store.read(totals)), ['1', null, '1']);
  const [letter] = (await outcome(node.deadLetters.list())) as { cause: string }[];
  assert.equal(letter?.cause, 'a write failed');
  assert.equal(await outcome(node.actors.ask(firstAddress, add(2))), 2);
  assert.deepEqual(performed, [`${before.id} 1`, `${after.id} 1`, 'one 2']);
});
