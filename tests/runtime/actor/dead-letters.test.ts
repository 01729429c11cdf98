/** A client command that made its actor throw is kept for an operator, who can replay it once. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { DeadLetter } from '../../../runtime/dead-letters.ts';
import { ValueFreeError } from '../../../runtime/described-error.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { type MemoryNode, memoryNode } from '../memory-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;
const poison = { type: 'throw' } as const;
/** A round of the sweep that drops what is too old, over all shards, in milliseconds. */
const ROUND_MS = 65 * 100;

test('a dead letter can be replayed, and dropped', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      readingFacts: (command) => {
        if (command.type === 'add' && broken) throw new Error('not yet');
        return undefined;
      },
    },
  });
  const { deadLetters, actors } = world.node;
  assert.equal(await world.outcome(actors.ask(firstAddress, add(5))), 'POISONED');
  assert.equal(await world.outcome(actors.ask(firstAddress, add(6))), 'POISONED');
  broken = false;
  const [newest, oldest] = (await world.outcome(deadLetters.list())) as { id: string }[];
  assert.equal(await world.outcome(deadLetters.replay(oldest?.id ?? '', firstAddress.shard)), 5);
  assert.equal(await world.outcome(deadLetters.drop(newest?.id ?? '', firstAddress.shard)), true);
  assert.equal(await world.outcome(deadLetters.drop(newest?.id ?? '', firstAddress.shard)), false);
  assert.deepEqual(await world.outcome(deadLetters.list()), []);
});

test('a dead letter that is replayed twice at once is carried out once', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      readingFacts: () => {
        if (broken) throw new Error('not yet');
        return undefined;
      },
    },
  });
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(firstAddress, add(5)));
  broken = false;
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  const replays = [1, 2].map(() => world.outcome(deadLetters.replay(letter?.id ?? '', firstAddress.shard)));
  assert.deepEqual(await Promise.all(replays), [5, 5]);
  assert.equal(await world.outcome(actors.ask(firstAddress, { type: 'read' })), 5);
});

test('a replay that was carried out is not said to be undone if its dead letter cannot be dropped', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      readingFacts: () => {
        if (broken) throw new Error('not yet');
        return undefined;
      },
      performed: () => world.callOutcome('refused'),
    },
  });
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(firstAddress, add(5)));
  broken = false;
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  const replayed = world.outcome(deadLetters.replay(letter?.id ?? '', firstAddress.shard));
  assert.equal(await replayed, 'OUTCOME_UNKNOWN');
  world.callOutcome('arrives');
  assert.equal(await world.outcome(actors.ask(firstAddress, { type: 'read' })), 5);
});

test('a dead letter of another release stays, and is not replayed', async () => {
  let isOther = false;
  const world = await memoryNode({ hooks: { isUnknown: ({ type }) => isOther && type === 'throw' } });
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(firstAddress, poison));
  isOther = true;
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  const replayed = await world.outcome(deadLetters.replay(letter?.id ?? '', firstAddress.shard));
  assert.equal(replayed, 'STORE_UNAVAILABLE');
  const kept = (await world.outcome(deadLetters.list())) as { id: string }[];
  assert.deepEqual(kept, [letter]);
});

test('a replayed dead letter that throws again is still one dead letter', async () => {
  const world = await memoryNode();
  const { deadLetters, actors } = world.node;
  await world.outcome(actors.ask(firstAddress, poison));
  const [letter] = (await world.outcome(deadLetters.list())) as { id: string }[];
  assert.equal(await world.outcome(deadLetters.replay(letter?.id ?? '', firstAddress.shard)), 'POISONED');
  const letters = (await world.outcome(deadLetters.list())) as { command: unknown }[];
  assert.deepEqual(
    letters.map(({ command }) => command),
    [poison],
  );
});

test('dead letters of a shard are bounded: the oldest are dropped', async () => {
  const world = await memoryNode({ limits: { deadLettersPerShard: 2, restartIntensity: 100 } });
  for (let number = 0; number < 4; number += 1)
    await world.outcome(world.node.actors.ask(firstAddress, { ...poison, number }));
  const letters = (await world.outcome(world.node.deadLetters.list())) as { command: { number: number } }[];
  assert.deepEqual(letters.map(({ command }) => command.number).sort(), [2, 3]);
});

test('dead letters are bounded by age: a quiet shard drops them by itself', async () => {
  const ageMs = MINUTE_MS;
  const world = await memoryNode({
    limits: { deadLetterAgeMs: ageMs, restartIntensity: 100, passivateEveryMs: 100 },
  });
  const { deadLetters, actors } = world.node;
  const kept = async () => ((await world.outcome(deadLetters.list())) as unknown[]).length;
  await world.outcome(actors.ask(firstAddress, poison));
  await world.clock.advance(ageMs - 20_000);
  await world.outcome(actors.ask(firstAddress, poison));
  assert.equal(await kept(), 2);
  await world.clock.advance(20_000 + ROUND_MS);
  assert.equal(await kept(), 1);
  await world.clock.advance(ageMs);
  assert.equal(await kept(), 0);
});

test('a command is sealed: Redis has no text of it, and it is replayed all the same', async () => {
  const secret = randomBytes(32);
  const hooks = {
    readingFacts: () => {
      throw new ValueFreeError('not yet');
    },
  };
  const world = await memoryNode({ hooks, deadLetterCipher: textCipher([secret], 'dead-letters') });
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(70_707))), 'POISONED');
  const storedText = JSON.stringify(world.redis.values.get(`{s${firstAddress.shard}}:dead-letters`));
  assert.match(storedText, /not yet/);
  assert.ok(!storedText.includes('70707'), storedText);
  const [letter] = (await world.outcome(world.node.deadLetters.list())) as DeadLetter[];
  assert.deepEqual([letter?.type, letter?.command], ['add', add(70_707)]);
  const replay = (node: MemoryNode) =>
    world.outcome(node.node.deadLetters.replay(letter?.id ?? '', firstAddress.shard));

  await world.outcome(world.node.stop());
  const stranger = await memoryNode({
    on: world,
    nodeId: 'b',
    deadLetterCipher: textCipher([randomBytes(32)], 'dead-letters'),
  });
  const [unread] = (await world.outcome(stranger.node.deadLetters.list())) as DeadLetter[];
  assert.deepEqual([unread?.type, unread?.command, unread?.cause], ['add', undefined, 'not yet']);
  assert.match(String(await replay(stranger)), /sealed with a key that is not ours/);

  await world.outcome(stranger.node.stop());
  const newerCipher = textCipher([randomBytes(32), secret], 'dead-letters');
  const next = await memoryNode({ on: world, nodeId: 'c', deadLetterCipher: newerCipher });
  assert.equal(await replay(next), 70_707);
  assert.deepEqual(await world.outcome(next.node.deadLetters.list()), []);
});
