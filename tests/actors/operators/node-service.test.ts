import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeService } from '../../../actors/operators/node-service.ts';
import type { OperatorsDirectory } from '../../../actors/operators/operators-directory.ts';
import type { DeadLetter } from '../../../runtime/dead-letters.ts';
import { counterAddress } from '../../runtime/counter-behaviour.ts';
import { memoryNode } from '../../runtime/memory-node.ts';
import { fakeOf } from '../../testbed/fake-of.ts';

const LETTERS = 60;

/** The service of a node that keeps more dead letters than a page shows. */
async function serviceWithLetters() {
  let broken = true;
  const world = await memoryNode({
    limits: { backoffMs: 0, restartIntensity: 2 * LETTERS },
    hooks: {
      readingFacts: () => {
        if (broken) throw new Error('not yet');
        return undefined;
      },
    },
  });
  const { node, clock } = world;
  const service = nodeService({
    node,
    clock,
    directory: fakeOf<OperatorsDirectory>({}),
    host: { isAvailable: () => true },
    link: { serve: (handler) => node.link.serve(handler), call: (...call) => node.link.call(...call) },
  });
  const firstAddress = counterAddress('one');
  for (let amount = 1; amount <= LETTERS; amount += 1)
    await world.outcome(node.actors.ask(firstAddress, { type: 'add', by: amount }));
  broken = false;
  return { world, service, one: firstAddress };
}

test('the oldest dead letter can be replayed like any other, and a missing one cannot', async () => {
  const { world, service, one } = await serviceWithLetters();
  const letters = (await world.outcome(world.node.deadLetters.list({ limit: 100 }))) as DeadLetter[];
  assert.equal(letters.length, LETTERS);
  const oldestId = letters.at(-1)?.id ?? '';
  assert.deepEqual(await world.outcome(service.replayDeadLetter(oldestId)), {
    ok: true,
    value: { id: oldestId, replayed: true },
  });
  assert.equal(await world.outcome(world.node.actors.ask(one, { type: 'read' })), 1);
  assert.deepEqual(await world.outcome(service.replayDeadLetter(oldestId)), {
    ok: false,
    failure: { code: 'NOT_FOUND' },
  });
});
