import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { CollectionMemory } from '../../../runtime/ownership/collection-memory.ts';
import type { Lookup, Write } from '../../../runtime/store.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { type RedisNode, redisNode } from '../redis-node.ts';

let redis: RedisServer;
let heldNode: RedisNode;
const shard = 5;
const key = `{s${shard}}:people`;

before(async () => {
  redis = await startRedisServer();
  heldNode = await redisNode({ redisUrl: redis.url });
});
after(async () => {
  await heldNode.node.stop();
  await redis.stop();
});

const ask = (member: string, name = key): Promise<unknown[]> =>
  Promise.resolve(heldNode.node.store.lookUp(shard, [['HGET', name, member]]));

test('a small collection that was asked before is answered at once, also for members it has not', async () => {
  const { store } = heldNode.node;
  await store.commit(shard, [['HSET', key, 'ada', '1']]);
  assert.deepEqual(await ask('ada'), ['1']);
  assert.deepEqual(store.lookUp(shard, [['HGET', key, 'ada']]), ['1']);
  assert.deepEqual(store.lookUp(shard, [['HGET', key, 'bob']]), [null]);
  assert.equal(store.known(shard, 'HGET', key, 'ada'), '1');
  assert.equal(store.known(shard, 'HGET', key, 'bob'), null);
});

test('a commit is seen by every later lookup', async () => {
  const { store } = heldNode.node;
  for (let round = 0; round < 50; round += 1) {
    await ask('ada');
    await store.commit(shard, [['HSET', key, 'ada', String(round)]]);
    assert.deepEqual(await ask('ada'), [String(round)]);
  }
});

test('a set answers one and zero, and one that is too large is asked in Redis', async () => {
  const { store } = heldNode.node;
  const members = Array.from({ length: 3_000 }, (_, index) => `member ${index}`);
  await store.commit(shard, [['SADD', `${key}:set`, ...members]]);
  const lookups: Lookup[] = [
    ['SISMEMBER', `${key}:set`, 'member 7'],
    ['SISMEMBER', `${key}:set`, 'nobody'],
  ];
  assert.deepEqual(await store.lookUp(shard, lookups), [1, 0]);
  assert.ok(store.lookUp(shard, lookups) instanceof Promise, 'it was too large to remember');
  assert.equal(store.known(shard, 'SISMEMBER', `${key}:set`, 'member 7'), undefined);
});

test('memory never returns a value that Redis did not have, for any events in between', (context) => {
  // A model of one hash in Redis, with reads under way and commits that are sent and answered at other moments.
  const step = fc.oneof(
    fc.record({ kind: fc.constant('begin' as const) }),
    fc.record({ kind: fc.constant('scan' as const) }),
    fc.record({ kind: fc.constant('finish' as const) }),
    fc.record({ kind: fc.constant('send' as const), value: fc.integer({ min: 0, max: 9 }) }),
    fc.record({ kind: fc.constant('apply' as const) }),
    fc.record({ kind: fc.constant('answer' as const) }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 80, size: 'max' }), (steps) => {
      const memory = new CollectionMemory();
      const question: Lookup = ['HGET', 'k', 'm'];
      let stored: string | undefined;
      let loads: ReturnType<CollectionMemory['begin']> = [];
      let scanned: [string, string[]] | undefined;
      let sent: { write: Write; value: string; applied: boolean } | undefined;
      for (const { kind, ...more } of steps) {
        if (kind === 'begin' && loads.length === 0) loads = memory.begin([question]);
        if (kind === 'scan' && loads.length > 0) scanned = ['0', stored === undefined ? [] : ['m', stored]];
        if (kind === 'finish' && scanned !== undefined) {
          memory.finish(loads, [scanned]);
          loads = [];
          scanned = undefined;
        }
        if (kind === 'send' && sent === undefined) {
          const value = String((more as { value: number }).value);
          sent = { write: ['HSET', 'k', 'm', value], value, applied: false };
          memory.forget([sent.write]);
        }
        if (kind === 'apply' && sent !== undefined) {
          stored = sent.value;
          sent.applied = true;
        }
        if (kind === 'answer' && sent?.applied === true) {
          memory.forget([sent.write]);
          sent = undefined;
        }
        const answer = memory.answer(question);
        // While a commit is under way, the value before it and the value after it are both correct.
        if (answer !== undefined && sent === undefined) assert.equal(answer ?? undefined, stored);
        assert.equal(memory.known('HGET', 'k', 'm'), answer);
      }
    }),
    propertyRuns(context, 2_000),
  );
});

test('a read that began before a commit and ended after it is not kept', () => {
  const memory = new CollectionMemory();
  const loads = memory.begin([['HGET', 'k', 'm']]);
  memory.forget([['HSET', 'k', 'm', 'new']]);
  const read = memory.finish(loads, [['0', ['m', 'old']]]);
  assert.equal(read.size, 1, 'it answers the question it was read for');
  assert.equal(memory.answer(['HGET', 'k', 'm']), undefined);
});

test('a shard remembers no more than a mebibyte: the oldest values are dropped', () => {
  const memory = new CollectionMemory();
  const value = 'x'.repeat(4_096);
  const question = (index: number): Lookup => ['HGET', `k${index}`, 'm'];
  for (let index = 0; index < 1_000; index += 1)
    memory.finish(memory.begin([question(index)]), [['0', ['m', value]]]);
  const kept = Array.from({ length: 1_000 }, (_, index) => memory.answer(question(index)) === value);
  const count = kept.filter(Boolean).length;
  assert.ok(count > 200 && count * value.length <= 1024 * 1024, `${count} kept`);
  assert.ok(kept.slice(-count).every(Boolean), 'the newest');
});

test('fields requested together: kept from the second lookup on, as one array, until a commit changes them', async () => {
  const { store } = heldNode.node;
  const fields = `{s${shard}}:fields`;
  const look = () => store.lookUp(shard, [['HMGET', fields, 'body', 'state']]);
  await store.commit(shard, [['HSET', fields, 'body', 'b']]);
  assert.deepEqual(await look(), [['b', null]]);
  assert.ok(look() instanceof Promise, 'what is asked for once is not kept');
  await look();
  const [kept] = look() as unknown[];
  assert.deepEqual(kept, ['b', null]);
  assert.equal((look() as unknown[])[0], kept);
  assert.equal(store.knownFields(shard, fields, 'body'), kept);
  assert.equal(store.knownFields(shard, fields, 'state'), undefined, 'another question');
  await store.commit(shard, [['HSET', fields, 'state', 's']]);
  assert.equal(store.knownFields(shard, fields, 'body'), undefined);
  assert.deepEqual(await look(), [['b', 's']]);
});

test('the newest of many fields that were asked for once each are remembered', () => {
  const memory = new CollectionMemory();
  const question = (index: number): Lookup => ['HMGET', `k${index}`, 'f'];
  for (let index = 0; index < 10_000; index += 1) assert.deepEqual(memory.begin([question(index)]), []);
  assert.equal(memory.begin([question(9_999)]).length, 1);
  assert.equal(memory.begin([question(0)]).length, 0, 'too long ago');
});

test('the names of fields that are requested together go with the fields', () => {
  const memory = new CollectionMemory();
  const day = '{s0}:messages:1';
  const question = (index: number): Lookup => ['HMGET', day, `m${index}`, `m${index}:state`];
  const readTwice = (index: number, body: string): void => {
    memory.begin([question(index)]);
    memory.finish(memory.begin([question(index)]), [[body, null]]);
  };
  for (let index = 0; index < 1_000; index += 1) {
    readTwice(index, 'body');
    assert.equal(memory.fieldCount, 2);
    memory.forget([['HSET', day, `m${index}:state`, 'sent']]);
    assert.equal(memory.fieldCount, 0, 'a commit changed them');
  }
  memory.begin([question(0)]);
  memory.finish(memory.begin([question(0)]), undefined);
  assert.equal(memory.fieldCount, 0, 'they could not be read');
  for (let index = 0; index < 1_000; index += 1) readTwice(index, 'x'.repeat(4_096));
  const isKept = (index: number): boolean => memory.knownFields(day, `m${index}`) !== undefined;
  const keptCount = Array.from({ length: 1_000 }, (_, index) => isKept(index)).filter(Boolean).length;
  assert.ok(keptCount > 100 && keptCount < 300, `${keptCount} kept`);
  assert.equal(memory.fieldCount, 2 * keptCount, 'the oldest were dropped');
  memory.forget([['PEXPIREAT', day, 1]]);
  assert.equal(memory.fieldCount, 0, 'a commit changed the whole hash');
});
