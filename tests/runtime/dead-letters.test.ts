/** A client command that made its actor throw is kept for an operator, who may have it carried out once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counterAddress } from './counter-behaviour.ts';
import { memoryNode } from './memory-node.ts';

const one = counterAddress('one');
const add = (by: number) => ({ type: 'add', by }) as const;
const poison = { type: 'throw' } as const;

test('a dead letter can be replayed, and dropped', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      preparing: (command) => {
        if (command.type === 'add' && broken) throw new Error('not yet');
        return undefined;
      },
    },
  });
  const { deadLetters, actors } = world.node;
  assert.equal(await world.outcome(actors.ask(one, add(5))), 'POISONED');
  assert.equal(await world.outcome(actors.ask(one, add(6))), 'POISONED');
  broken = false;
  const [newest, oldest] = (await world.outcome(deadLetters.list())) as { id: string }[];
  assert.equal(await world.outcome(deadLetters.replay(oldest?.id ?? '', one.shard)), 5);
  assert.equal(await world.outcome(deadLetters.drop(newest?.id ?? '', one.shard)), true);
  assert.equal(await world.outcome(deadLetters.drop(newest?.id ?? '', one.shard)), false);
  assert.deepEqual(await world.outcome(deadLetters.list()), []);
});

test('a dead letter that is replayed twice at once is carried out once', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      preparing: () => {
        if (broken) throw new Error('not yet');
        return undefined;
      },
    },
  });
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(one, add(5)));
  broken = false;
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  const replays = [1, 2].map(() => world.outcome(deadLetters.replay(letter?.id ?? '', one.shard)));
  assert.deepEqual(await Promise.all(replays), [5, 5]);
  assert.equal(await world.outcome(actors.ask(one, { type: 'read' })), 5);
});

test('a dead letter that makes the actor throw again is one letter still', async () => {
  const world = await memoryNode();
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(one, poison));
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  assert.equal(await world.outcome(deadLetters.replay(letter?.id ?? '', one.shard)), 'POISONED');
  const letters = (await world.outcome(deadLetters.list())) as { command: unknown }[];
  assert.deepEqual(
    letters.map(({ command }) => command),
    [poison],
  );
});

test('dead letters of a shard are bounded: the oldest make room', async () => {
  const world = await memoryNode({ limits: { deadLettersPerShard: 2, restartIntensity: 100 } });
  for (let index = 0; index < 4; index += 1) await world.outcome(world.node.actors.ask(one, poison));
  assert.equal(((await world.outcome(world.node.deadLetters.list())) as unknown[]).length, 2);
});
