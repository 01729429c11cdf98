/** Writes that share a command in Redis have the effects that they have one by one, and fail for the same turns. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { CommitSection } from '../../../runtime/engine.ts';
import { RedisEngine } from '../../../runtime/redis/redis-engine.ts';
import type { Write } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { comparable, LineLog } from '../../testbed/line-log.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';

const log = new LineLog();
let engine: RedisEngine;
after(() => engine?.close());
const { redis, url: redisUrl } = sharedRedis({}, async () => {
  engine = await RedisEngine.connect(redisUrl, {
    log,
    clock: new FakeClock(),
    answerMs: 10_000,
  });
});

const keys = ['{s0}:a', '{s0}:b'] as const;
const key = fc.constantFrom(...keys);
const field = fc.constantFrom('f', 'g');
const value = fc.nat(99).map(String);
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('HSET' as const), key, field, value) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('HDEL' as const), key, field) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('DEL' as const), key) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('RPUSH' as const), fc.constant('{s0}:list'), value) },
);
const turns = fc.array(fc.array(write, { maxLength: 3 }), { minLength: 1, maxLength: 6 });

/** Returns the values of the section's keys. */
async function held(): Promise<unknown[]> {
  return await Promise.all([...keys.map((name) => redis.hgetall(name)), redis.lrange('{s0}:list', 0, -1)]);
}

/** Returns a Redis that contains only the records of two shards. */
async function startOver(): Promise<void> {
  await redis.flushall();
  await redis.mset('{s0}:owner', 'now', '{s1}:owner', 'another');
}

function section(shard: number, writes: readonly (readonly Write[])[]): CommitSection {
  return { shard, expected: 'now', next: 'x', entries: writes.map((turn) => ({ writes: turn })) };
}

test('a section of many turns has the same result as its writes one after the other', async (context) => {
  await fc.assert(
    fc.asyncProperty(turns, async (writes) => {
      await redis.flushall();
      for (const [name, ...args] of writes.flat()) await redis.call(name, ...args.map(String));
      const expected = await held();
      await startOver();
      const outcomes = await engine.commit([section(0, writes), section(1, [[['SET', '{s1}:k', '1']]])]);
      assert.deepEqual(
        outcomes.map(({ code }) => code),
        ['committed', 'fenced'],
      );
      assert.deepEqual(await held(), expected);
      assert.deepEqual(await redis.mget('{s0}:owner', '{s1}:owner', '{s1}:k'), ['x', 'another', null]);
    }),
    propertyRuns(context, 300),
  );
});

test('HDELIF deletes a field that still has its value, and no other', async () => {
  await startOver();
  await redis.hset('{s0}:a', 'f', 'old', 'g', 'new');
  await redis.set('{s0}:b', 'no hash');
  const drop = (name: string, field: string): Write => ['HDELIF', name, field, 'old'];
  const drops = [[drop(keys[0], 'f'), drop(keys[0], 'g'), drop(keys[0], 'unknown')], [drop(keys[1], 'f')]];
  const [outcome] = await engine.commit([section(0, drops)]);
  assert.deepEqual(await redis.hgetall('{s0}:a'), { g: 'new' });
  assert.deepEqual([...(outcome?.failures?.keys() ?? [])], [1]);
});

test('a refused command fails every turn that had a part in it, and no other', async () => {
  await startOver();
  await redis.set('{s0}:a', 'no hash');
  const [outcome] = await engine.commit([
    section(0, [
      [['HSET', '{s0}:a', 'f', '1']],
      [['HSET', '{s0}:b', 'f', '1']],
      [
        ['RPUSH', '{s0}:list', '1'],
        ['HSET', '{s0}:a', 'g', '1'],
      ],
      [['RPUSH', '{s0}:b', '1']],
    ]),
  ]);
  assert.deepEqual([...(outcome?.failures?.keys() ?? [])].sort(), [0, 2, 3]);
  assert.match(outcome?.failures?.get(2) ?? '', /WRONGTYPE/);
  assert.deepEqual(await redis.lrange('{s0}:list', 0, -1), ['1'], 'the rest of a turn holds');
});

test('the messages of a section are one command', async () => {
  await startOver();
  await redis.config('RESETSTAT');
  await engine.commit([
    section(
      0,
      Array.from({ length: 1_000 }, (_, index) => [['HSET', '{s0}:a', `f${index}`, 'v']]),
    ),
  ]);
  assert.match(await redis.info('commandstats'), /cmdstat_hset:calls=1,/);
  assert.equal(await redis.hlen('{s0}:a'), 1_000);
});

test('a section that cannot be laid out fails alone, for the turns with the defect, which the log names', async () => {
  await startOver();
  log.lines.length = 0;
  const broken = undefined as unknown as Write;
  const message = 'a write of a shard could not be laid out';
  const outcomes = await engine.commit([
    section(0, [[['SET', '{s0}:a', '1']], [['SET', '{s0}:k', '1'], broken], [['SET', '{s0}:b', '1']]]),
    { ...section(1, [[['SET', '{s1}:k', '1']]]), expected: 'another' },
  ]);
  const failures = new Map([[1, message]]);
  assert.deepEqual(outcomes, [{ code: 'failed', message, failures }, { code: 'committed' }]);
  assert.deepEqual(log.lines.map(comparable), [{ level: 'error', error: 'TypeError', message }]);
  assert.deepEqual(await redis.mget('{s0}:owner', '{s0}:a', '{s0}:k'), ['now', null, null]);
  assert.deepEqual(await redis.mget('{s1}:owner', '{s1}:k'), ['x', '1']);
});
