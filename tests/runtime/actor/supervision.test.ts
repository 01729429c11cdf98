import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, shardKey } from '../../../runtime/address.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { memoryNode } from '../memory-node.ts';
import { allSeen } from './all-seen.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;
const poison = { type: 'throw' } as const;

test('a poison client command changes nothing, is dead-lettered with its cause, and only its actor restarts', async () => {
  const causes: (string | undefined)[] = [];
  const world = await memoryNode({
    hooks: { activated: ({ id }, cause) => void causes.push(`${id} ${cause}`) },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add(5)));
  await world.outcome(world.node.actors.ask(counterAddress('other'), add(1)));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, poison)), 'POISONED');
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 5);
  assert.deepEqual(causes, ['one activation', 'other activation', 'one crash']);
  const [letter] = (await world.outcome(world.node.deadLetters.list())) as {
    cause: string;
    command: unknown;
  }[];
  assert.match(letter?.cause ?? '', /^Error at Object\.turn \(/);
  assert.deepEqual(letter?.command, poison);
});

test('restarts wait longer each time; the sixth crash within a minute suspends until an operator resumes', async () => {
  const loads: number[] = [];
  const world = await memoryNode({ hooks: { loading: () => void loads.push(world.clock.monotonicMs()) } });
  await world.outcome(world.node.actors.ask(firstAddress, add(4)));
  for (let crash = 1; crash <= 5; crash += 1) {
    const crashed = world.clock.monotonicMs();
    await world.outcome(world.node.actors.ask(firstAddress, poison));
    assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 4);
    const waitedMs = (loads.at(-1) ?? 0) - crashed;
    const expectedMs = 200 * 2 ** (crash - 1);
    assert.ok(waitedMs >= expectedMs && waitedMs < expectedMs + 50, `crash ${crash} waited ${waitedMs} ms`);
  }
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, poison)), 'POISONED');
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'SUSPENDED');
  assert.equal(world.node.actors.snapshot(firstAddress)?.status, 'suspended');
  assert.equal(
    await world.outcome(world.node.actors.ask(counterAddress('other'), add(1))),
    1,
    'others go on',
  );
  await world.clock.advance(120_000);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'SUSPENDED');
  await world.outcome(world.node.actors.resume(firstAddress));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 5);
});

test('a suspension outlives the process, and is seen before the actor gets a request', async () => {
  const first = await memoryNode({ limits: { restartIntensity: 0 } });
  await first.outcome(first.node.actors.ask(firstAddress, poison));
  await first.clock.advance(100);
  await first.outcome(first.node.stop());
  const secondNode = await memoryNode({ on: first });
  const [seenSummary] = await allSeen(secondNode.node.actors);
  assert.deepEqual(
    [seenSummary?.address, seenSummary?.status, seenSummary?.state],
    [firstAddress, 'suspended', undefined],
  );
  assert.equal(secondNode.node.actors.snapshot(firstAddress)?.status, 'suspended');
  assert.equal(await secondNode.outcome(secondNode.node.actors.ask(firstAddress, add(1))), 'SUSPENDED');
  await secondNode.outcome(secondNode.node.actors.resume(firstAddress));
  assert.equal(await secondNode.outcome(secondNode.node.actors.ask(firstAddress, add(1))), 1);
});

test('a state is shown again only after the first turn that follows a crash', async () => {
  const causes: unknown[] = [];
  const world = await memoryNode({ hooks: { activated: (_, cause) => void causes.push(cause) } });
  await world.outcome(world.node.actors.ask(firstAddress, add(5)));
  await world.outcome(world.node.actors.ask(firstAddress, poison));
  const shown = Promise.resolve(world.node.actors.state<{ total: number }>(firstAddress)).then((state) => [
    causes.length,
    state?.total,
  ]);
  assert.deepEqual(await world.outcome(shown), [2, 5]);
});

test('an actor that was resumed while Redis took no writes is not suspended again by the next process', async () => {
  const first = await memoryNode({ limits: { restartIntensity: 0 } });
  await first.outcome(first.node.actors.ask(firstAddress, poison));
  await first.clock.advance(1_000);
  assert.equal(first.node.actors.snapshot(firstAddress)?.status, 'suspended');
  const { commit } = first.engine;
  first.engine.commit = async (sections) => sections.map(() => ({ code: 'unavailable', message: 'full' }));
  await first.outcome(first.node.actors.resume(firstAddress));
  await first.clock.advance(1_000);
  first.engine.commit = commit;
  await first.clock.advance(1_000);
  await first.outcome(first.node.stop());
  const secondNode = await memoryNode({ on: first });
  assert.equal(await secondNode.outcome(secondNode.node.actors.ask(firstAddress, add(1))), 1);
});

test('crashes that are a minute apart never suspend', async () => {
  const world = await memoryNode({ limits: { restartIntensity: 1 } });
  for (let index = 0; index < 4; index += 1) {
    assert.equal(await world.outcome(world.node.actors.ask(firstAddress, poison)), 'POISONED');
    await world.clock.advance(61_000);
  }
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 1);
});

test('a state that cannot be loaded is tried again, then suspends its actor alone', async () => {
  let broken = true;
  const world = await memoryNode({
    hooks: {
      loading: () => {
        if (broken) throw new Error('written by a newer version');
      },
    },
  });
  const asked = world.outcome(world.node.actors.ask(firstAddress, add(1)));
  assert.ok(['SUSPENDED', 'MAILBOX_FULL'].includes(String(await asked)));
  await world.clock.until(() => world.node.actors.snapshot(firstAddress)?.status === 'suspended');
  assert.equal(world.node.actors.snapshot(firstAddress)?.lastError?.message.startsWith('Error at'), true);
  broken = false;
  await world.outcome(world.node.actors.resume(firstAddress));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 1);
});

test('a state whose timers cannot be read is loaded again after a wait, then suspends its actor alone', async () => {
  let broken = true;
  const loads: number[] = [];
  const activated: unknown[] = [];
  const world = await memoryNode({
    hooks: {
      loading: () => void loads.push(world.clock.monotonicMs()),
      activated: ({ id }, cause) => void activated.push([id, cause]),
      timers: () => {
        if (broken) throw new Error('no such moment');
      },
    },
  });
  const asked = world.outcome(world.node.actors.ask(firstAddress, add(1)));
  await world.clock.until(() => world.node.actors.snapshot(firstAddress)?.status === 'suspended');
  assert.equal(await asked, 'SUSPENDED');
  assert.deepEqual(
    loads.slice(1).map((atMs, index) => Math.floor((atMs - (loads[index] ?? 0)) / 100) * 100),
    [200, 400, 800, 1_600, 3_200],
  );
  assert.equal(world.node.counters.crashes, 6);
  assert.equal(world.node.actors.snapshot(firstAddress)?.lastError?.message.startsWith('Error at'), true);
  broken = false;
  assert.equal(await world.outcome(world.node.actors.ask(counterAddress('other'), add(1))), 1);
  await world.outcome(world.node.actors.resume(firstAddress));
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 1);
  assert.deepEqual(activated, [
    ['other', 'activation'],
    ['one', 'activation'],
  ]);
});

test('an actor that crashed before its first turn took effect is still activated', async () => {
  const causes: unknown[] = [];
  let crashes = 1;
  const world = await memoryNode({
    hooks: {
      activated: (_, cause) => void causes.push(cause),
      timers: () => {
        crashes -= 1;
        if (crashes >= 0) throw new Error('not yet');
      },
    },
  });
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 1);
  assert.equal(world.node.counters.restarts, 1);
  assert.deepEqual(causes, ['activation']);
});

test('a state that cannot decide whether it must live crashes only its turn, and frees its slot', async () => {
  let broken = true;
  const world = await memoryNode({
    limits: { turnsInProgress: 1 },
    hooks: {
      mustLive: ({ total }) => {
        if (broken && total === 10) throw new Error('who knows');
      },
    },
  });
  const { actors, counters, deadLetters } = world.node;
  await world.outcome(actors.ask(firstAddress, add(1)));
  assert.equal(await world.outcome(actors.ask(firstAddress, add(9))), 'POISONED');
  assert.ok(!world.node.isBusy());
  assert.equal(await world.outcome(actors.ask(firstAddress, { type: 'read' })), 1);
  const [letter] = (await world.outcome(deadLetters.list())) as { cause: string }[];
  assert.match(letter?.cause ?? '', /^Error at Object\.mustLive \(/);
  broken = false;
  assert.equal(await world.outcome(actors.ask(firstAddress, add(9))), 10);
  assert.deepEqual([counters.crashes, counters.restarts], [1, 1]);
});

test('an actor’s resources on its node outlive a crash, and are freed when it is suspended before it is back', async () => {
  const reasons: string[] = [];
  let broken = false;
  const world = await memoryNode({
    limits: { restartIntensity: 1 },
    hooks: {
      deactivated: (_, reason) => void reasons.push(reason),
      loading: () => {
        if (broken) throw new Error('cannot be read');
      },
    },
  });
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  broken = true;
  await world.outcome(world.node.actors.ask(firstAddress, poison));
  assert.deepEqual(reasons, ['reloaded']);
  await world.clock.until(() => world.node.actors.snapshot(firstAddress)?.status === 'suspended');
  assert.deepEqual(reasons, ['reloaded', 'suspended']);
});

test('an actor’s resources on its node are freed when it is stopped while it waits after a crash, and not twice', async () => {
  const reasons: string[] = [];
  const world = await memoryNode({ hooks: { deactivated: (_, reason) => void reasons.push(reason) } });
  const { actors } = world.node;
  await world.outcome(actors.ask(firstAddress, add(1)));
  await world.outcome(actors.ask(firstAddress, poison));
  await world.outcome(actors.ask(firstAddress, poison));
  assert.equal(actors.snapshot(firstAddress)?.status, 'backoff');
  await world.outcome(actors.passivate(firstAddress, { isForced: true }));
  assert.deepEqual(reasons, ['reloaded', 'reloaded', 'passivated']);
  await world.outcome(actors.ask(firstAddress, add(1)));
  await world.outcome(actors.passivate(firstAddress, { isForced: true }));
  assert.deepEqual(reasons, ['reloaded', 'reloaded', 'passivated', 'passivated']);
});

test('an actor’s resources on its node are freed when it cannot be loaded again after a crash and no caller waits for it', async () => {
  const reasons: string[] = [];
  const world = await memoryNode({ hooks: { deactivated: (_, reason) => void reasons.push(reason) } });
  const { actors } = world.node;
  await world.outcome(actors.ask(firstAddress, add(1)));
  await world.outcome(actors.ask(firstAddress, poison));
  world.callOutcome('refused');
  await world.clock.until(() => actors.snapshot(firstAddress) === undefined);
  assert.deepEqual(reasons, ['reloaded', 'passivated']);
});

test('an actor that cannot decide whether it is settled delays a hand-over until its deadline, and is logged', async () => {
  const performed: number[] = [];
  const world = await memoryNode({
    hooks: {
      performed: ({ total }) => void performed.push(total),
      settled: () => {
        throw new Error('who knows');
      },
    },
  });
  const { clock, node } = world;
  await world.outcome(node.actors.ask(firstAddress, add(1)));
  const startedMs = clock.monotonicMs();
  await world.outcome(node.stop());
  const tookMs = clock.monotonicMs() - startedMs;
  assert.ok(tookMs >= 1_500 && tookMs < 2_000, `it took ${tookMs} ms`);
  assert.ok(world.log.errors.includes('an actor threw when it was asked whether it is settled'));
  assert.equal(world.redis.records()[firstAddress.shard]?.owner, undefined);
  assert.deepEqual(performed, [1]);
});

test('an unanswered call to Redis is not a crash: clients are answered at once, control commands wait', async () => {
  const world = await memoryNode();
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  world.callOutcome('refused');
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'STORE_UNAVAILABLE');
  world.node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  await world.clock.advance(1_000);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'STORE_UNAVAILABLE');
  assert.equal(
    await world.outcome(world.node.actors.ask(counterAddress('cold'), add(1))),
    'STORE_UNAVAILABLE',
  );
  world.callOutcome('arrives');
  await world.clock.advance(500);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 2);
  assert.equal(world.node.counters.crashes, 0);
});

test('a state that cannot be shown, since it takes no first turn, is refused at once and shown later', async () => {
  const first = await memoryNode();
  await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
  await first.outcome(first.node.stop());
  // Its first turn writes the mark that it must live.
  first.redis.run(['SREM', shardKey(firstAddress.shard, 'awake'), addressText(firstAddress)]);
  const world = await memoryNode({ on: first });
  const { commit } = world.engine;
  world.engine.commit = async (sections) => sections.map(() => ({ code: 'unavailable', message: 'full' }));
  const shown = () => world.outcome(Promise.resolve(world.node.actors.state(firstAddress)));
  assert.equal(await shown(), 'STORE_UNAVAILABLE');
  world.engine.commit = commit;
  await world.clock.advance(1_000);
  assert.equal(((await shown()) as { live: boolean }).live, true);
});

test('before Redis is full clients are refused while control commands still have memory', async () => {
  const world = await memoryNode();
  await world.outcome(world.node.actors.ask(firstAddress, add(1)));
  world.engine.memoryShare = 0.97;
  await world.clock.advance(1_100);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), 'STORE_UNAVAILABLE');
  world.node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  await world.clock.advance(100);
  world.engine.memoryShare = 0.5;
  await world.clock.advance(1_100);
  assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), 2);
});

for (const outcome of ['lost_reply', 'never', 'late'] as const) {
  test(`a commit that was sent and not answered (${outcome}) is settled by its revision, never assumed`, async () => {
    const world = await memoryNode();
    await world.outcome(world.node.actors.ask(firstAddress, add(1)));
    world.callOutcome(outcome, 1);
    assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(10))), 'OUTCOME_UNKNOWN');
    await world.clock.advance(1_000);
    const expected = outcome === 'lost_reply' ? 11 : 1;
    assert.equal(await world.outcome(world.node.actors.ask(firstAddress, { type: 'read' })), expected);
    assert.equal(world.node.counters.unknownOutcomes, 1);
    assert.equal(await world.outcome(world.node.actors.ask(firstAddress, add(1))), expected + 1);
  });
}

for (const touched of [true, false]) {
  test(`an actor that is erased while it is suspended leaves no trace${touched ? '' : ', though no caller asked for it since the start'}`, async () => {
    const first = await memoryNode({ limits: { restartIntensity: 0 } });
    await first.outcome(first.node.actors.ask(firstAddress, { type: 'live', on: true }));
    await first.outcome(first.node.actors.ask(firstAddress, poison));
    assert.equal(first.node.actors.snapshot(firstAddress)?.status, 'suspended');
    await first.clock.advance(1_000);
    let world = first;
    if (!touched) {
      await first.outcome(first.node.stop());
      world = await memoryNode({ on: first });
    }
    const statuses = async () => (await allSeen(world.node.actors)).map(({ status }) => status);
    assert.deepEqual(await statuses(), ['suspended']);
    assert.equal(
      await world.outcome(world.node.actors.passivate(firstAddress, { isForced: true })),
      'passivated',
    );
    assert.deepEqual(await statuses(), []);
    await world.clock.advance(1_000);
    for (const part of ['suspended', 'awake']) {
      const [members] = (await world.outcome(
        world.node.store.read([['SMEMBERS', shardKey(firstAddress.shard, part)]]),
      )) as string[][];
      assert.deepEqual(members, [], part);
    }
  });
}
