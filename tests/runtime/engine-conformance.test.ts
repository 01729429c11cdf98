/** The engine of simulations replies as that over Redis does. So simulations prove something about the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import type { RedisCommand } from '../../runtime/store.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { LEASE_MS, testEngine } from './engine-conformance.ts';
import { MemoryEngine } from './memory-engine.ts';
import { MemoryRedis } from './memory-redis.ts';

const { redis, url } = sharedRedis();
/** A ticket that is higher than those of all calls. */
const LAST_TICKET = 1_000;

/** The system's clock, with timers that keep the process alive. */
const clock: Clock = {
  ...systemClock,
  after: (delayMs, callback) => {
    const handle = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

testEngine('Redis', async () => {
  await redis.flushall();
  const connect = () =>
    RedisEngine.connect(url, { log: new QuietLog(), clock: systemClock, answerMs: 10_000 });
  const [engine, otherEngine] = await Promise.all([connect(), connect()]);
  return {
    engine,
    otherEngine,
    async registerLast(nodeId, incarnation) {
      await engine.register(nodeId, incarnation, LEASE_MS);
      await redis.set(`{runtime}:ticket:${nodeId}`, LAST_TICKET);
    },
    async stop() {
      await Promise.all([engine.close(), otherEngine.close()]);
    },
  };
});

testEngine('memory', async () => {
  const memory = new MemoryRedis(clock);
  const [engine, otherEngine] = [new MemoryEngine(memory, { clock }), new MemoryEngine(memory, { clock })];
  return {
    engine,
    otherEngine,
    async registerLast(nodeId, incarnation) {
      memory.register(nodeId, incarnation, LEASE_MS, LAST_TICKET);
    },
    async stop() {
      await Promise.all([engine.close(), otherEngine.close()]);
    },
  };
});

/** Commands that run one after the other. A read of an absent key makes none. */
const SCRIPTS: Readonly<Record<string, readonly RedisCommand[]>> = {
  texts: [
    ['GET', 'text'],
    ['SET', 'text', 'one'],
    ['GET', 'text'],
    ['PEXPIREAT', 'text', 4_000_000_000_000],
    ['PEXPIREAT', 'absent', 4_000_000_000_000],
    ['DEL', 'text'],
    ['DEL', 'text'],
    ['UNLINK', 'absent'],
  ],
  hashes: [
    ['HGET', 'hash', 'a'],
    ['HSET', 'hash', 'a', 1, 'b', 2],
    ['HSET', 'hash', 'a', 3, 'c', 4],
    ['HGET', 'hash', 'a'],
    ['HMGET', 'hash', 'c', 'absent', 'a'],
    ['HGETALL', 'hash'],
    ['HVALS', 'hash'],
    ['HSCAN', 'hash', 0],
    ['HDEL', 'hash', 'a', 'absent', 'b'],
    ['HDEL', 'hash', 'c'],
    ['DEL', 'hash'],
    ['HGETALL', 'hash'],
  ],
  sets: [
    ['SISMEMBER', 'set', 'a'],
    ['SADD', 'set', 'a', 'b'],
    ['SADD', 'set', 'b', 'c'],
    ['SISMEMBER', 'set', 'a'],
    ['SREM', 'set', 'a', 'b', 'absent'],
    ['SMEMBERS', 'set'],
    ['SRANDMEMBER', 'set', 5],
    ['SREM', 'set', 'c'],
    ['PEXPIREAT', 'set', 4_000_000_000_000],
    ['SMEMBERS', 'set'],
  ],
  lists: [
    ['LLEN', 'list'],
    ['LSET', 'list', 0, 'a'],
    ['RPUSH', 'list', 'a', 'b'],
    ['RPUSH', 'list', 'c', 'd'],
    ['LSET', 'list', -1, 'e'],
    ['LSET', 'list', 4, 'f'],
    ['LRANGE', 'list', 1, -2],
    ['LRANGE', 'list', -3, 9],
    ['LTRIM', 'list', -2, -1],
    ['LRANGE', 'list', 0, -1],
    ['LTRIM', 'list', 5, 9],
    ['DEL', 'list'],
  ],
  'sorted sets': [
    ['ZSCORE', 'order', 'a'],
    ['ZADD', 'order', 0, 'c', 0, 'a'],
    ['ZADD', 'order', 0, 'a', 0, 'b', 0, 'd'],
    ['ZADD', 'order', 0, 'e', 0, 'e'],
    ['ZREM', 'order', 'e'],
    ['ZSCORE', 'order', 'a'],
    ['ZRANGE', 'order', 0, -1],
    ['ZRANGE', 'order', '(a', '+', 'BYLEX', 'LIMIT', 1, 2],
    ['ZRANGEBYLEX', 'order', '[b', '(d'],
    ['ZRANGEBYLEX', 'order', '(b', '+', 'LIMIT', 1, 1],
    ['ZREVRANGEBYLEX', 'order', '(d', '[b', 'LIMIT', 0, 1],
    ['ZREVRANGEBYLEX', 'order', '+', '-'],
    ['ZREM', 'order', 'a', 'absent'],
    ['ZREMRANGEBYRANK', 'order', 0, -3],
    ['ZREMRANGEBYLEX', 'order', '-', '(d'],
    ['ZRANGE', 'order', 0, -1],
    ['ZREMRANGEBYLEX', 'order', '-', '+'],
    ['DEL', 'order'],
  ],
  'absent keys': [
    ['HGETALL', 'key'],
    ['SADD', 'key', 'a'],
    ['HGETALL', 'key'],
    ['GET', 'key'],
    ['LRANGE', 'key', 0, -1],
    ['ZRANGE', 'key', 0, -1],
  ],
};

for (const [title, commands] of Object.entries(SCRIPTS)) {
  test(`the memory replies to commands of ${title} as Redis does`, async () => {
    await redis.flushall();
    const memory = new MemoryRedis(clock);
    for (const command of commands) {
      const [name, ...args] = command;
      const reply = await redis.call(name, ...args.map(String)).catch(refusalOf);
      assert.deepEqual(replyInMemory(memory, command), reply, command.join(' '));
    }
  });
}

test('the memory refuses options that it lacks', () => {
  const memory = new MemoryRedis(clock);
  const commands: readonly RedisCommand[] = [
    ['SET', 'text', 'one', 'XX'],
    ['ZADD', 'order', 'XX', 0, 'a'],
    ['ZRANGE', 'order', '+', '-', 'BYLEX', 'REV'],
    ['XADD', 'stream', 'NOMKSTREAM', '*', 'field', 'value'],
  ];
  for (const command of commands)
    assert.throws(() => memory.run(command), /does not know/, command.join(' '));
});

test('an error of the memory reaches the caller only if its reply does', async () => {
  const errors: Record<string, string> = {};
  for (const fate of ['arrives', 'lost_reply', 'late'] as const) {
    const memory = new MemoryRedis(clock);
    memory.run(['SET', 'text', 'no hash']);
    let tellRun: () => void = () => undefined;
    const ran = new Promise<void>((resolve) => {
      tellRun = resolve;
    });
    const engine = new MemoryEngine(memory, {
      clock,
      network: {
        ...clock,
        after: (delayMs, run) =>
          clock.after(delayMs, () => {
            run();
            tellRun();
          }),
      },
      outcome: () => fate,
    });
    const error = await engine.append([['HSET', 'text', 'field', 1]]).catch(refusalOf);
    errors[fate] = String(error);
    if (fate === 'late') await ran;
  }
  assert.deepEqual(errors, {
    arrives: 'refused: WRONGTYPE',
    lost_reply: 'refused: injected',
    late: 'refused: injected',
  });
});

function replyInMemory(memory: MemoryRedis, command: RedisCommand): unknown {
  try {
    return memory.run(command);
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the code of a refusal as a reply. */
function refusalOf(error: unknown): string {
  return `refused: ${(error as Error).message.split(' ')[0]}`;
}
