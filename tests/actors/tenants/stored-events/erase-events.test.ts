/**
 * The events of an erased shop leave their tenant's stream in short steps, while other shops add theirs: a real Redis.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eraseEventsAbout, eraseShopEvents } from '../../../../actors/tenants/stored-events/erase-events.ts';
import { tenantKeys } from '../../../../actors/tenants/tenant-keys.ts';
import { objectIdGenerator } from '../../../../runtime/object-id.ts';
import { systemRandom } from '../../../../runtime/random.ts';
import type { RedisCommand } from '../../../../runtime/store.ts';
import { sharedRedis } from '../../../testbed/shared-redis.ts';

const newId = objectIdGenerator(systemRandom);
const [erased, keptId] = [newId(Date.now()), newId(Date.now())];

const { redis } = sharedRedis();

const append = async (writes: readonly RedisCommand[]): Promise<unknown[]> =>
  Promise.all(writes.map(([name, ...args]) => redis.call(name, args as string[])));

/** A node that erases with these steps, and whether it still owns the tenant. */
const eraserOf = (step: typeof append, owns: () => boolean = () => true) => ({
  store: { append: step },
  actors: { owns },
});

type Entry = [id: string, fields: string[]];

/** A tenant's stream with `count` events, every other one the erased shop's. */
async function tenantWith(count: number) {
  const tenantId = newId(Date.now());
  const { events } = tenantKeys(tenantId);
  let made = 0;
  const add = async (shopId: string): Promise<void> => {
    made += 1;
    await redis.xadd(events, '*', 't', 'message.sent', 's', shopId, 'd', `message ${made}`);
  };
  for (let index = 0; index < count; index += 1) await add(index % 2 === 0 ? erased : keptId);
  const facts = async () => {
    const info = (await redis.xinfo('STREAM', events)) as unknown[];
    const fact = (name: string) => info[info.indexOf(name) + 1];
    return {
      last: fact('last-generated-id'),
      cutOff: Number(fact('entries-added')) - Number(fact('length')),
    };
  };
  const entries = async () => (await redis.xrange(events, '-', '+')) as Entry[];
  let steps = 0;
  /** Erases the shop's; `between`: what happens before each step, by its number. */
  const erase = (between: (step: number) => Promise<void> = async () => undefined): Promise<void> => {
    const counted = async (writes: readonly RedisCommand[]): Promise<unknown[]> => {
      steps += 1;
      await between(steps);
      return append(writes);
    };
    return eraseShopEvents(eraserOf(counted), { tenantId, shopId: erased });
  };
  return { tenantId, events, add, facts, entries, erase, steps: () => steps };
}

function ofKept(entries: readonly Entry[]): Entry[] {
  return entries.filter(([, fields]) => fields.includes(keptId));
}

test('no event of the shop is left in the stream, and the others keep their ids and their cursors', async () => {
  const { tenantId, events, entries, facts, erase } = await tenantWith(1_000);
  const [entriesBefore, factsBefore] = [await entries(), await facts()];
  await erase();
  assert.deepEqual(await entries(), ofKept(entriesBefore));
  assert.deepEqual(await facts(), factsBefore);
  assert.ok(!(await redis.dumpBuffer(events))?.includes(erased));
  const keys = await redis.keys(`*${tenantId}*`);
  assert.deepEqual(keys, [events]);
});

test('one step reads fifty events at most, and events that are added meanwhile are kept', async () => {
  const { add, entries, erase, steps } = await tenantWith(1_000);
  const entriesBefore = ofKept(await entries());
  await erase(async () => add(keptId));
  assert.ok(steps() > 20, `${steps()} steps`);
  const presentEntries = await entries();
  assert.equal(presentEntries.length, ofKept(presentEntries).length);
  // The last step is that of the other stream, which this tenant has not.
  assert.equal(presentEntries.length, entriesBefore.length + steps());
});

test('events that are cut off meanwhile stay cut off, and readers can notice it', async () => {
  const { events, entries, facts, erase } = await tenantWith(1_000);
  await erase(async (step) => {
    if (step === 3) await redis.xtrim(events, 'MAXLEN', 300);
  });
  assert.deepEqual([(await entries()).length, (await facts()).cutOff], [150, 700]);
});

test('an interrupted erasure continues where it stopped', async () => {
  const { entries, erase, steps } = await tenantWith(2_000);
  const entriesBefore = await entries();
  await assert.rejects(
    erase(async (step) => {
      if (step === 15) throw new Error('killed');
    }),
  );
  assert.deepEqual(await entries(), entriesBefore);
  await erase();
  assert.deepEqual(await entries(), ofKept(entriesBefore));
  // Once more from the start would take 57.
  assert.equal(steps(), 43);
});

test('an interrupted erasure of a shop does not affect the erasure of the next shop', async () => {
  const { tenantId, entries, erase } = await tenantWith(1_000);
  await assert.rejects(
    erase(async (step) => {
      if (step === 4) throw new Error('killed');
    }),
  );
  await eraseShopEvents(eraserOf(append), { tenantId, shopId: keptId });
  const left = await entries();
  assert.deepEqual([left.length, ofKept(left)], [500, []]);
});

test('a stream whose events were all the shop’s stays, with the cursor of its last event', async () => {
  const tenantId = newId(Date.now());
  const { events } = tenantKeys(tenantId);
  const last = await redis.xadd(events, '*', 't', 'queue.paused', 's', erased, 'd', '{}');
  await eraseShopEvents(eraserOf(append), { tenantId, shopId: erased });
  const info = (await redis.xinfo('STREAM', events)) as unknown[];
  const fact = (name: string) => info[info.indexOf(name) + 1];
  assert.deepEqual([fact('length'), fact('last-generated-id'), fact('entries-added')], [0, last, 0]);
});

test('attempts of webhooks to deliver the shop’s events go too, and those for other shops stay', async () => {
  const tenantId = newId(Date.now());
  const { webhookAttempts } = tenantKeys(tenantId);
  for (const shopId of [erased, keptId])
    await redis.xadd(webhookAttempts, '*', 'w', 'hook', 'a', '{}', 's', shopId);
  await eraseShopEvents(eraserOf(append), { tenantId, shopId: erased });
  const left = (await redis.xrange(webhookAttempts, '-', '+')) as Entry[];
  assert.deepEqual(
    left.map(([, fields]) => fields),
    [['w', 'hook', 'a', '{}', 's', keptId]],
  );
});

/** A tenant's stream with an event about each of `count` subjects. */
async function tenantAbout(count: number) {
  const tenantId = newId(Date.now());
  const { events } = tenantKeys(tenantId);
  const subjects = Array.from({ length: count }, (_, index) => `message ${index}`);
  for (const subject of subjects)
    await redis.xadd(events, '*', 't', 'message.received', 's', keptId, 'd', subject);
  const left = async () => (await redis.xrange(events, '-', '+')).map(([, fields]) => fields.at(-1));
  return { tenantId, subjects, left };
}

test('events about hundreds of subjects go, and those about others stay', async () => {
  const { tenantId, subjects, left } = await tenantAbout(1_300);
  const values = subjects.filter((_, index) => index % 13 !== 0);
  assert.ok(values.length > 1_000);
  await eraseEventsAbout(eraserOf(append), tenantId, { name: 'person-one', values });
  assert.deepEqual(
    await left(),
    subjects.filter((_, index) => index % 13 === 0),
  );
  assert.equal((await redis.keys(`*${tenantId}*`)).length, 1);
});

test('an erasure that stopped and is repeated for more subjects misses none', async () => {
  const { tenantId, subjects, left } = await tenantAbout(200);
  const [first, , third] = subjects;
  assert.ok(first !== undefined && third !== undefined);
  let steps = 0;
  const killed = async (writes: readonly RedisCommand[]): Promise<unknown[]> => {
    steps += 1;
    if (steps === 3) throw new Error('killed');
    return append(writes);
  };
  const name = 'person-one';
  await assert.rejects(eraseEventsAbout(eraserOf(killed), tenantId, { name, values: [third] }));
  await eraseEventsAbout(eraserOf(append), tenantId, { name, values: [first, third] });
  assert.deepEqual(
    await left(),
    subjects.filter((subject) => subject !== first && subject !== third),
  );
});

test('an erasure that stopped and is repeated for the same subjects in another order continues', async () => {
  const { tenantId, subjects } = await tenantAbout(200);
  const values = subjects.slice(0, 2);
  let steps = 0;
  const counted = eraserOf(async (writes) => {
    steps += 1;
    if (steps === 3) throw new Error('killed');
    return append(writes);
  });
  await assert.rejects(eraseEventsAbout(counted, tenantId, { name: 'person-one', values }), /killed/);
  await eraseEventsAbout(counted, tenantId, { name: 'person-one', values: values.toReversed() });
  // From the start it would take 8.
  assert.equal(steps, 6);
});

test('a node that no longer owns the tenant takes no step, as it would undo those of the next owner', async () => {
  const { tenantId, subjects, left } = await tenantAbout(200);
  const [first, , third] = subjects;
  assert.ok(first !== undefined && third !== undefined);
  const name = 'person-one';
  let steps = 0;
  const former = eraserOf(
    async (writes) => {
      steps += 1;
      return append(writes);
    },
    () => steps < 2,
  );
  await assert.rejects(eraseEventsAbout(former, tenantId, { name, values: [third] }), {
    code: 'SHARD_NOT_OWNED',
  });
  assert.equal(steps, 2);
  await eraseEventsAbout(eraserOf(append), tenantId, { name, values: [first, third] });
  assert.equal((await left()).length, 198);
});
