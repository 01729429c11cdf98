/**
 * The types of the replies in `runtime/store.ts` are those of Redis. The compiler compares them with the replies here.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '../../runtime/clock.ts';
import { RedisEngine } from '../../runtime/redis/redis-engine.ts';
import type { Read, ReplyTo } from '../../runtime/store.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';

type Case<Command extends Read[0]> = readonly [read: Read<Command>, reply: ReplyTo<Command>];

/** Reads with each command, and their replies. That to `XINFO` has values of every form. */
const cases: { readonly [Command in Exclude<Read[0], 'XINFO'>]: readonly Case<Command>[] } = {
  EXISTS: [
    [['EXISTS', 'text'], 1],
    [['EXISTS', 'none'], 0],
  ],
  GET: [
    [['GET', 'text'], 'one'],
    [['GET', 'none'], null],
  ],
  HGET: [
    [['HGET', 'hash', 'field'], '1'],
    [['HGET', 'hash', 'none'], null],
  ],
  HGETALL: [
    [
      ['HGETALL', 'hash'],
      ['field', '1'],
    ],
    [['HGETALL', 'none'], []],
  ],
  HKEYS: [[['HKEYS', 'hash'], ['field']]],
  HMGET: [
    [
      ['HMGET', 'hash', 'none', 'field'],
      [null, '1'],
    ],
  ],
  HSCAN: [
    [
      ['HSCAN', 'hash', 0, 'COUNT', 10],
      ['0', ['field', '1']],
    ],
  ],
  HVALS: [[['HVALS', 'hash'], ['1']]],
  LLEN: [[['LLEN', 'list'], 2]],
  LRANGE: [
    [
      ['LRANGE', 'list', 0, -1],
      ['1', 'b'],
    ],
  ],
  MGET: [
    [
      ['MGET', 'text', 'none'],
      ['one', null],
    ],
  ],
  SISMEMBER: [[['SISMEMBER', 'set', '1'], 1]],
  SMEMBERS: [[['SMEMBERS', 'set'], ['1']]],
  SMISMEMBER: [
    [
      ['SMISMEMBER', 'set', '1', '2'],
      [1, 0],
    ],
  ],
  SRANDMEMBER: [
    [['SRANDMEMBER', 'set', 5], ['1']],
    [['SRANDMEMBER', 'none', 5], []],
  ],
  SSCAN: [
    [
      ['SSCAN', 'set', 0, 'COUNT', 10],
      ['0', ['1']],
    ],
  ],
  XRANGE: [[['XRANGE', 'stream', '-', '+'], [['1-1', ['field', '1']]]]],
  XREVRANGE: [[['XREVRANGE', 'stream', '+', '-'], [['1-1', ['field', '1']]]]],
  ZRANGE: [
    [
      ['ZRANGE', 'order', 0, -1],
      ['a', 'b'],
    ],
  ],
  ZRANGEBYLEX: [
    [
      ['ZRANGEBYLEX', 'order', '-', '+'],
      ['a', 'b'],
    ],
  ],
  ZRANGEBYSCORE: [
    [
      ['ZRANGEBYSCORE', 'order', 7, 7],
      ['a', 'b'],
    ],
  ],
  ZREVRANGE: [
    [
      ['ZREVRANGE', 'order', 0, 0, 'WITHSCORES'],
      ['b', '7'],
    ],
  ],
  ZREVRANGEBYLEX: [[['ZREVRANGEBYLEX', 'order', '+', '(a'], ['b']]],
  ZSCORE: [
    [['ZSCORE', 'order', 'a'], '7'],
    [['ZSCORE', 'order', 'none'], null],
  ],
};

let engine: RedisEngine;
const { redis, url } = sharedRedis({}, async () => {
  await redis.set('text', 'one');
  await redis.hset('hash', 'field', 1);
  await redis.rpush('list', 1, 'b');
  await redis.sadd('set', 1);
  await redis.xadd('stream', '1-1', 'field', 1);
  await redis.zadd('order', 7, 'a', 7, 'b');
  engine = await RedisEngine.connect(url, { log: new QuietLog(), clock: systemClock, answerMs: 10_000 });
});
after(async () => {
  await engine.close();
});

for (const [command, replies] of Object.entries(cases)) {
  test(`the reply to ${command} has the form of its type`, async () => {
    for (const [read, reply] of replies) assert.deepEqual(await engine.read([read]), [reply]);
  });
}

test('a read of bytes has the form of its type, with bytes for each text', async () => {
  const replies = await engine.readBytes([
    ['HGET', 'hash', 'field'],
    ['HSCAN', 'hash', 0],
    ['EXISTS', 'hash'],
  ]);
  const [value, [cursor, pairs], count] = replies;
  assert.deepEqual(
    [value, cursor, pairs.map(String), count],
    [Buffer.from('1'), Buffer.from('0'), ['field', '1'], 1],
  );
});
