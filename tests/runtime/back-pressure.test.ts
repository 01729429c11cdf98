import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '../../runtime/address.ts';
import type { RuntimeLimits } from '../../runtime/limits.ts';
import { deferred } from '../testbed/deferred.ts';
import { counterAddress } from './counter-behaviour.ts';
import { type MemoryNode, memoryNode } from './memory-node.ts';

const add = { type: 'add', by: 1 } as const;
const event = { type: 'event', does: 'add' } as const;

test('while the store stalls, turns up to the limit wait and all others are refused at once', async () => {
  const { world, stall, asked, goOn } = await stallingWorld({ turnsInProgress: 10 }, 100);
  stall();
  const outcomes = asked.map((address) => outcomeOf(world.node.actors.ask(address, add)));
  await world.clock.advance(0);
  const before = await settledNow(outcomes);
  assert.equal(before.filter((outcome) => outcome === 'NODE_BUSY').length, 90, 'refused without a wait');
  assert.equal(before.filter((outcome) => outcome === undefined).length, 10, 'these wait for the store');
  assert.equal(world.node.counters.busyRefusals, 90);
  goOn();
  const after = (await world.outcome(Promise.all(outcomes))) as unknown[];
  assert.equal(after.filter((outcome) => outcome === 1).length, 10, 'what was let in is done');
  const again = asked.map((address) => world.outcome(world.node.actors.ask(address, { type: 'read' })));
  const totals = (await Promise.all(again)) as number[];
  assert.equal(
    totals.reduce((sum, total) => sum + total, 0),
    10,
    'what was refused did not happen',
  );
});

test('a node at its limit refuses no control command, for any actor', async () => {
  const { world, stall, asked, goOn } = await stallingWorld({ turnsInProgress: 3 }, 20);
  stall();
  const [first, secondAddress, third, fourth] = asked as [Address, Address, Address, Address];
  for (const address of [first, secondAddress, third]) void outcomeOf(world.node.actors.ask(address, add));
  assert.equal(await outcomeOf(world.node.actors.ask(fourth, add)), 'NODE_BUSY');
  for (const address of asked) world.node.actors.tell(address, event);
  const answered = outcomeOf(world.node.actors.ask(fourth, event));
  goOn();
  assert.equal(await world.outcome(answered), 2, 'asked for or told');
  await world.clock.advance(100);
  const totals = await Promise.all(
    asked.map((address) => world.outcome(world.node.actors.ask(address, { type: 'read' }))),
  );
  assert.deepEqual(totals, [2, 2, 2, 2, ...Array.from({ length: 16 }, () => 1)]);
});

test('one actor with a full mailbox leaves the node’s slots free for the others', async () => {
  const { world, stall, asked, goOn } = await stallingWorld({ turnsInProgress: 2, mailboxCount: 50 }, 2);
  const [busy, otherAddress] = asked as [Address, Address];
  stall();
  const crowd = Array.from({ length: 51 }, () => outcomeOf(world.node.actors.ask(busy, add)));
  assert.equal(await outcomeOf(world.node.actors.ask(busy, add)), 'MAILBOX_FULL');
  const served = outcomeOf(world.node.actors.ask(otherAddress, add));
  goOn();
  assert.equal(await world.outcome(served), 1);
  assert.equal(((await world.outcome(Promise.all(crowd))) as unknown[]).at(-1), 51);
});

test('turns that end badly free their slot: crashes, refusals of Redis, unknown outcomes', async () => {
  const { world, asked } = await stallingWorld({ turnsInProgress: 1 }, 4);
  const [firstAddress, two, three, four] = asked as [Address, Address, Address, Address];
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'throw' })), 'POISONED');
  // Redis refuses a write of the wrong type only if the key exists.
  assert.equal(await world.outcome(world.node.actors.ask(two, add)), 1);
  assert.equal(await world.outcome(world.node.actors.ask(two, { type: 'wrong_type' })), 'POISONED');
  world.callOutcome('refused', 1);
  assert.equal(await world.outcome(world.node.actors.ask(three, add)), 'STORE_UNAVAILABLE');
  world.callOutcome('lost_reply', 1);
  assert.equal(await world.outcome(world.node.actors.ask(four, add)), 'OUTCOME_UNKNOWN');
  await world.clock.advance(5_000);
  assert.equal(await world.outcome(world.node.actors.ask(four, add)), 2);
});

test('no new call is accepted while an answer of Redis is overdue, and all are accepted after it', async () => {
  const { world, stall, asked, goOn } = await stallingWorld({ turnsInProgress: 1_000, commitAgeMs: 300 }, 20);
  stall();
  const [first, secondAddress, ...otherAddresses] = asked as [Address, Address, ...Address[]];
  const early = [outcomeOf(world.node.actors.ask(first, add))];
  await world.clock.advance(250);
  early.push(outcomeOf(world.node.actors.ask(secondAddress, add)));
  await world.clock.advance(100);
  for (const address of otherAddresses)
    assert.equal(await outcomeOf(world.node.actors.ask(address, add)), 'NODE_BUSY');
  goOn();
  assert.deepEqual(await world.outcome(Promise.all(early)), [1, 1], 'what was let in is done');
  for (const address of otherAddresses)
    assert.equal(await world.outcome(world.node.actors.ask(address, add)), 1);
});

/** Returns a node with some active counters, and a store that can withhold its answers. */
async function stallingWorld(
  limits: Partial<RuntimeLimits>,
  counters: number,
): Promise<{
  readonly world: MemoryNode;
  readonly asked: readonly Address[];
  stall(): void;
  goOn(): void;
}> {
  const world = await memoryNode({ limits });
  const askedAddresses = Array.from({ length: counters }, (_, index) => counterAddress(`counter-${index}`));
  for (const address of askedAddresses) await world.outcome(world.node.actors.ask(address, { type: 'read' }));
  const commit = world.engine.commit.bind(world.engine);
  let stalled = deferred();
  stalled.resolve();
  world.engine.commit = (sections) => stalled.promise.then(() => commit(sections));
  return {
    world,
    asked: askedAddresses,
    stall() {
      stalled = deferred();
    },
    goOn: () => stalled.resolve(),
  };
}

/** Returns the reply, or the code of the failure. */
function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: { readonly code: string }) => error.code);
}

/** Returns the results of the settled promises; undefined for the rest. */
function settledNow(promises: readonly Promise<unknown>[]): Promise<unknown[]> {
  const nothing = nextTurn();
  return Promise.all(promises.map((promise) => Promise.race([promise, nothing])));
}
