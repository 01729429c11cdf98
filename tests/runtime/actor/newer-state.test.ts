import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import { NewerState } from '../../../runtime/runtime-failure.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { memoryNode } from '../memory-node.ts';

const firstAddress = counterAddress('one');

test('a state that a newer program stored suspends no actor: it is loaded again after the longest backoff', async () => {
  let isNewer = false;
  let loads = 0;
  const hooks = {
    loading() {
      loads += 1;
      if (isNewer) throw new NewerState('a counter', { stored: 2, known: 1 });
    },
  };
  const first = await memoryNode({ hooks });
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
  await first.outcome(first.node.stop());
  isNewer = true;
  loads = 0;
  const secondNode = await memoryNode({ hooks, on: first });
  await secondNode.clock.advance(5 * MINUTE_MS);
  assert.ok(loads > 6 && loads <= 12, `loaded ${loads} times in five minutes`);
  assert.equal(
    await secondNode.outcome(secondNode.node.actors.ask(firstAddress, { type: 'read' })),
    'STORE_UNAVAILABLE',
  );
  const askedMs = secondNode.clock.monotonicMs();
  // A reader gets the reason, and does not wait for the next load.
  await assert.rejects(async () => secondNode.node.actors.state(firstAddress), NewerState);
  assert.equal(secondNode.clock.monotonicMs(), askedMs);
  assert.deepEqual([secondNode.node.counters.suspensions, secondNode.node.counters.crashes], [0, 0]);
  assert.ok(secondNode.log.errors.some((line) => line.includes('newer program')));
  isNewer = false;
  await secondNode.clock.advance(31_000);
  assert.equal(await secondNode.outcome(secondNode.node.actors.ask(firstAddress, { type: 'read' })), 0);
});
