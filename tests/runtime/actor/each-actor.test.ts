/** Operators see each actor once, like its snapshot, also if actors come and go between two slices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ActorSummary } from '../../../runtime/actors.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { type CounterCommand, counterAddress } from '../counter-behaviour.ts';
import { type MemoryNode, memoryNode } from '../memory-node.ts';
import { allSeen } from './all-seen.ts';

const addresses = ['one', 'two', 'three', 'nobody'].map(counterAddress);
const firstAddress = counterAddress('one');

/** An act on an actor or beside it. The test does not wait for its end. */
type Step =
  | { readonly does: 'tell'; readonly actor: number; readonly command: CounterCommand }
  | { readonly does: 'resume' | 'restart' | 'passivate' | 'erase' | 'look at state'; readonly actor: number }
  | { readonly does: 'lose calls'; readonly calls: number };

function begin({ node, callOutcome }: MemoryNode, step: Step): void {
  const { actors } = node;
  if (step.does === 'lose calls') {
    callOutcome('never', step.calls);
    return;
  }
  const address = addresses[step.actor] as (typeof addresses)[number];
  const doing = {
    tell: () => actors.ask(address, step.does === 'tell' ? step.command : undefined),
    resume: () => actors.resume(address),
    restart: () => actors.restart(address),
    passivate: () => actors.passivate(address),
    erase: () => actors.passivate(address, { isForced: true }),
    'look at state': async () => actors.state(address),
  }[step.does];
  doing().catch(() => undefined);
}

/** Returns the snapshots of all actors in the form of summaries. */
function snapshots({ node }: MemoryNode): unknown[] {
  return addresses.flatMap((address) => {
    const snapshot = node.actors.snapshot(address);
    if (snapshot === undefined) return [];
    const { status, restarts, mailbox, state } = snapshot;
    return [{ id: address.id, status, restarts, depth: mailbox.depth, total: state?.total }];
  });
}

function seen({ address, status, restarts, mailboxDepth, state }: ActorSummary): { readonly id: string } {
  const { total } = (state ?? {}) as { total?: number };
  return { id: address.id, status, restarts, depth: mailboxDepth, total } as { readonly id: string };
}

const byId = (items: Iterable<unknown>): unknown[] =>
  [...(items as Iterable<{ id: string }>)].sort((left, right) => (left.id < right.id ? -1 : 1));

test('every change of an actor appears in the next read', async (context) => {
  const actor = fc.integer({ min: 0, max: addresses.length - 1 });
  const command = fc.constantFrom<CounterCommand>(
    { type: 'add', by: 1 },
    { type: 'read' },
    { type: 'throw' },
    { type: 'event', does: 'throw' },
    { type: 'event', does: 'add' },
    { type: 'live', on: true },
    { type: 'live', on: false },
    { type: 'wake', atMs: 1_800_000_010_000 },
  );
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant('tell'), actor, command }) },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constantFrom('resume', 'restart', 'passivate', 'erase', 'look at state'),
        actor,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constant('lose calls'), calls: fc.integer({ max: 3, min: 1 }) }),
    },
  );
  const passes = fc.constantFrom(0, 0, 1, 20, 300, 20_000);
  const moments = fc.array(fc.record({ step, passesMs: passes, looks: fc.boolean() }), {
    maxLength: 40,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(moments, async (steps) => {
      const world = await memoryNode({
        limits: { restartIntensity: 1, passivateAfterMs: 15_000, passivateEveryMs: 5_000 },
      });
      const { actors } = world.node;
      for (const { step: next, passesMs, looks } of steps) {
        begin(world, next as Step);
        const looking = looks ? allSeen(actors) : undefined;
        await world.clock.advance(passesMs);
        const during = (await looking)?.map(({ address }) => address.id) ?? [];
        assert.equal(new Set(during).size, during.length, 'an actor was visited twice');
        if (looks) assert.deepEqual(byId((await allSeen(actors)).map(seen)), byId(snapshots(world)));
      }
    }),
    propertyRuns(context, 300),
  );
});

test('the entries of a shard are removed with it', async () => {
  const first = await memoryNode();
  const { actors } = first.node;
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'add', by: 1 }));
  assert.equal((await allSeen(actors)).length, 1);
  await first.outcome(first.node.stop());
  assert.deepEqual(await allSeen(actors), []);
});
