/** The stored data of an actor is checked while it waits for an operator, and never while it is loaded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardKey } from '../../../runtime/address.ts';
import type { DescribedError } from '../../../runtime/described-error.ts';
import { type SectionOutcome, UNCLAIMED_RECORD } from '../../../runtime/engine.ts';
import type { Write } from '../../../runtime/store.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { counterAddress, counterKey } from '../counter-behaviour.ts';
import { memoryNode } from '../memory-node.ts';

const firstAddress = counterAddress('one');
const limits = { restartIntensity: 0, checkSuspendedMs: 1_000 };
const total = (value: number): Write => ['HSET', counterKey('one'), 'total', value];

test('a suspended actor is checked at once and at each interval, until it is resumed; effects follow the commit', async () => {
  const checks: number[] = [];
  const effects: (number | undefined)[] = [];
  const world = await memoryNode({
    limits,
    hooks: {
      suspended: async (sinceMs, nowMs) => {
        checks.push(nowMs - sinceMs);
        return [total(40 + checks.length)];
      },
      performed: ({ id, total: writes }) => void (id === 'suspended' && effects.push(writes)),
    },
  });
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'throw' }));
  await world.clock.advance(2_500);
  assert.deepEqual([checks.length, effects], [3, [1, 1, 1]]);
  assert.ok(checks[0] === 0 && (checks[2] ?? 0) >= 2_000, `${checks}`);
  await world.outcome(world.node.actors.resume(firstAddress));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 43);
  await world.clock.advance(5_000);
  assert.equal(checks.length, 3, 'it runs again');
});

test('a load waits for the current check: its writes are found, or never written', async () => {
  let answer: ((writes: Write[]) => void) | undefined;
  const world = await memoryNode({
    limits,
    hooks: { suspended: () => new Promise((resolve) => (answer = resolve)) },
  });
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'throw' }));
  await world.clock.advance(10);
  const resumed = world.node.actors.resume(firstAddress);
  await world.clock.advance(100);
  assert.equal(world.node.actors.peek(firstAddress), undefined, 'it is not loaded yet');
  answer?.([total(7)]);
  await world.outcome(resumed);
  assert.equal(
    await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })),
    0,
    'decided too late',
  );
});

test('the current commit ends before the actor is loaded', async () => {
  const world = await memoryNode({ limits, hooks: { suspended: async () => [total(7)] } });
  const { commit } = world.engine;
  let slow = 0;
  world.engine.commit = (sections) => {
    const mine = sections.some(({ entries }) => entries.some(({ writes }) => writes.some((w) => w[3] === 7)));
    if (!mine) return commit.call(world.engine, sections);
    slow += 1;
    return new Promise((resolve) =>
      world.clock.after(500, () => void commit.call(world.engine, sections).then(resolve)),
    );
  };
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'throw' }));
  await world.clock.advance(50);
  assert.equal(slow, 1);
  await world.outcome(world.node.actors.resume(firstAddress));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 7);
});

test('the log tells an absent Redis from a refused write, and says nothing of a lost shard', async () => {
  const log = new LineLog();
  const world = await memoryNode({ limits, log, hooks: { suspended: async () => [total(7)] } });
  const { commit } = world.engine;
  const given: SectionOutcome[] = [
    { code: 'unavailable' },
    { code: 'committed', failures: new Map([[0, 'WRONGTYPE a text']]) },
    { code: 'fenced', actual: UNCLAIMED_RECORD },
  ];
  world.engine.commit = async (sections) => {
    const mine = sections.some(({ entries }) => entries.some(({ writes }) => writes.some((w) => w[3] === 7)));
    const outcome = mine ? given.shift() : undefined;
    if (outcome === undefined) return commit.call(world.engine, sections);
    if (outcome.code === 'committed') await commit.call(world.engine, sections);
    return sections.map(() => outcome);
  };
  await world.outcome(world.node.actors.ask(firstAddress, { type: 'throw' }));
  await world.clock.advance(2_500);
  assert.equal(given.length, 0);
  const lines = log.lines.filter(({ message }) => message === 'the check of a suspended actor failed');
  const reasons = lines.map(({ level, fields }) => {
    const { code, err } = fields as { readonly code?: string; readonly err?: DescribedError };
    return [level, code, err?.type, err?.code];
  });
  assert.deepEqual(reasons, [
    ['warn', 'STORE_UNAVAILABLE', undefined, undefined],
    ['error', undefined, 'FailedWrite', 'WRONGTYPE'],
  ]);
});

test('a failed run is repeated, and the next owner runs too', async () => {
  let checks = 0;
  const suspended = async (): Promise<Write[]> => {
    checks += 1;
    if (checks === 1) throw new Error('it cannot be read');
    return [total(checks)];
  };
  const first = await memoryNode({ limits, hooks: { suspended } });
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'throw' }));
  await first.clock.advance(1_100);
  assert.equal(checks, 2);
  assert.ok(first.log.errors.includes('the check of a suspended actor failed'));
  await first.outcome(first.node.stop());
  const secondNode = await memoryNode({ on: first, limits, hooks: { suspended } });
  await secondNode.clock.advance(500);
  assert.equal(checks, 3);
  assert.ok(
    secondNode.redis.values.has(shardKey(firstAddress.shard, 'suspended')),
    'it is suspended as before',
  );
  assert.equal(secondNode.node.actors.snapshot(firstAddress)?.status, 'suspended');
});
