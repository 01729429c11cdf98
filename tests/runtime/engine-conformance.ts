import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardCount, shardKey } from '../../runtime/address.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import {
  type CommitSection,
  type Engine,
  parseRecord,
  recordText,
  type ShardRecord,
  UNCLAIMED_RECORD,
} from '../../runtime/engine.ts';
import type { Write } from '../../runtime/store.ts';
import { refuseUnsafe } from '../../runtime/store-assumptions.ts';
import { eventually } from '../testbed/waiting.ts';

/** An empty Redis, and the engines of two nodes on it. */
export interface EngineWorld {
  readonly engine: Engine;
  readonly otherEngine: Engine;
  /** Registers an incarnation with a ticket that is higher than those of all other calls of `register`. */
  registerLast(nodeId: string, incarnation: string): Promise<void>;
  stop(): Promise<void>;
}

/** The length of a lease that is valid throughout its test. */
export const LEASE_MS = MINUTE_MS;

/**
 * Tests each call of `Engine`, over one kind of engine. `onAvailable` is not among them: an engine in memory is
 * available until it is closed.
 */
export function testEngine(kind: string, start: () => Promise<EngineWorld>): void {
  const engineTest = (title: string, run: (world: EngineWorld) => Promise<void>): void =>
    void test(`${kind}: ${title}`, async () => {
      const world = await start();
      try {
        await run(world);
      } finally {
        await world.stop();
      }
    });

  engineTest('a section whose record is the expected one is applied whole', async ({ engine }) => {
    const record = await claim(engine, 3);
    const writes: Write[] = [
      ['SET', keyOf(3, 'text'), 'one'],
      ['HSET', keyOf(3, 'hash'), 'field', 1],
    ];
    const committed = section(3, record, [writes, [['RPUSH', keyOf(3, 'list'), 'a', 'b']]]);
    assert.deepEqual(await engine.commit([committed]), [{ code: 'committed' }]);
    assert.deepEqual((await engine.records())[3], parseRecord(committed.next));
    const reads = [
      ['GET', keyOf(3, 'text')],
      ['HGETALL', keyOf(3, 'hash')],
      ['LRANGE', keyOf(3, 'list'), 0, -1],
    ] as const;
    assert.deepEqual(await engine.read(reads), ['one', ['field', '1'], ['a', 'b']]);
  });

  engineTest('a section with another record is refused with the one there is, alone', async ({ engine }) => {
    const record = await claim(engine, 3);
    const newRecord = await claim(engine, 4);
    const claimedSince = { ...record, epoch: record.epoch - 1 };
    const outcomes = await engine.commit([
      section(3, claimedSince, [[['SET', keyOf(3, 'text'), 'refused']]]),
      section(4, newRecord, [[['SET', keyOf(4, 'text'), 'applied']]]),
      section(5, newRecord, [[['SET', keyOf(5, 'text'), 'refused']]]),
    ]);
    assert.deepEqual(outcomes, [
      { code: 'fenced', actual: record },
      { code: 'committed' },
      { code: 'fenced', actual: UNCLAIMED_RECORD },
    ]);
    const reads = [3, 4, 5].map((shard) => ['GET', keyOf(shard, 'text')] as const);
    assert.deepEqual(await engine.read(reads), [null, 'applied', null]);
    assert.deepEqual((await engine.records())[3], record);
  });

  engineTest('a section that arrives twice is applied once, and committed both times', async ({ engine }) => {
    const sections = [section(3, await claim(engine, 3), [[['RPUSH', keyOf(3, 'list'), 'a']]])];
    assert.deepEqual(await engine.commit(sections), [{ code: 'committed' }]);
    assert.deepEqual(await engine.commit(sections), [{ code: 'committed' }]);
    assert.deepEqual(await engine.read([['LRANGE', keyOf(3, 'list'), 0, -1]]), [['a']]);
  });

  engineTest(
    'a refused write fails its turn with the first reason, and stops no other write',
    async (world) => {
      const { engine } = world;
      await engine.append([
        ['SET', keyOf(3, 'text'), 'no list'],
        ['RPUSH', keyOf(3, 'list'), 'a'],
      ]);
      const [outcome] = await engine.commit([
        section(3, await claim(engine, 3), [
          [['RPUSH', keyOf(3, 'list'), 'b']],
          [
            ['RPUSH', keyOf(3, 'text'), 'c'],
            ['LSET', keyOf(3, 'list'), 9, 'd'],
            ['RPUSH', keyOf(3, 'list'), 'e'],
          ],
          [['RPUSH', keyOf(3, 'list'), 'f']],
        ]),
      ]);
      assert.equal(outcome?.code, 'committed');
      assert.deepEqual([...(outcome?.failures?.keys() ?? [])], [1]);
      assert.match(outcome?.failures?.get(1) ?? '', /^WRONGTYPE/);
      assert.deepEqual(await engine.read([['LRANGE', keyOf(3, 'list'), 0, -1]]), [['a', 'b', 'e', 'f']]);
    },
  );

  engineTest('HDELIF deletes a field that still has its value', async ({ engine }) => {
    const hash = keyOf(3, 'hash');
    await engine.append([['HSET', hash, 'kept', 'new', 'dropped', 'old']]);
    const writes = ['kept', 'dropped', 'absent'].map((field): Write => ['HDELIF', hash, field, 'old']);
    await engine.commit([section(3, await claim(engine, 3), [writes])]);
    assert.deepEqual(await engine.read([['HGETALL', hash]]), [['kept', 'new']]);
  });

  engineTest(
    'a read of another type rejects with an error that is no failure of Redis',
    async ({ engine }) => {
      await engine.append([['SET', 'text', 'no hash']]);
      const isRefusal = ({ message, code }: { message: string; code?: string }) =>
        message.startsWith('WRONGTYPE') && code === undefined;
      await assert.rejects(engine.read([['HGETALL', 'text']]), isRefusal);
      await assert.rejects(engine.readBytes([['HGETALL', 'text']]), isRefusal);
    },
  );

  engineTest('a read of bytes has bytes for each text', async ({ engine }) => {
    await engine.append([['HSET', 'hash', 'field', 'é']]);
    const replies = await engine.readBytes([
      ['HGET', 'hash', 'field'],
      ['HMGET', 'hash', 'field', 'absent'],
      ['HSCAN', 'hash', 0],
      ['SISMEMBER', 'absent', 'a'],
    ]);
    const [value, field] = [Buffer.from('é'), Buffer.from('field')];
    assert.deepEqual(replies, [value, [value, null], [Buffer.from('0'), [field, value]], 0]);
  });

  engineTest(
    'unfenced writes have replies in order, and a refused one stops no other',
    async ({ engine }) => {
      const writes = [
        ['SET', 'text', 'no list'],
        ['RPUSH', 'list', 'a', 'b'],
        ['HSET', 'hash', 'field', 1],
      ] as const;
      assert.deepEqual(await engine.append(writes), ['OK', 2, 1]);
      const refused = engine.append([
        ['RPUSH', 'text', 'c'],
        ['RPUSH', 'list', 'd'],
      ]);
      await assert.rejects(refused, ({ message, code }: { message: string; code?: string }) => {
        return message.startsWith('WRONGTYPE') && code === undefined;
      });
      assert.deepEqual(await engine.read([['LRANGE', 'list', 0, -1]]), [['a', 'b', 'd']]);
    },
  );

  engineTest('nodes with a lease are listed by node id, with their last incarnation', async (world) => {
    const { engine, otherEngine } = world;
    await engine.register('b', 'b:1', LEASE_MS);
    await otherEngine.register('a', 'a:1', LEASE_MS);
    await otherEngine.register('b', 'b:2', LEASE_MS);
    const nodes = [
      { nodeId: 'a', incarnation: 'a:1' },
      { nodeId: 'b', incarnation: 'b:2' },
    ];
    assert.deepEqual(await engine.nodes(), nodes);
    assert.deepEqual(await otherEngine.nodes(), nodes);
  });

  engineTest('a registration after one with a later ticket changes nothing', async (world) => {
    await world.registerLast('a', 'a:last');
    await assert.rejects(world.engine.register('a', 'a:late', LEASE_MS), { code: 'STORE_UNAVAILABLE' });
    assert.deepEqual(await world.engine.nodes(), [{ nodeId: 'a', incarnation: 'a:last' }]);
    await world.engine.register('b', 'b:1', LEASE_MS);
  });

  engineTest('a lease is renewed only while it is valid, and only by its incarnation', async ({ engine }) => {
    assert.equal(await engine.renew('a', 'a:1', LEASE_MS), false);
    await engine.register('a', 'a:1', LEASE_MS);
    assert.equal(await engine.renew('a', 'a:2', LEASE_MS), false);
    // The last call of `renew` sets the length.
    assert.equal(await engine.renew('a', 'a:1', 1), true);
    await eventually(async () => (await engine.nodes()).length === 0);
    assert.equal(await engine.renew('a', 'a:1', LEASE_MS), false);
    await engine.register('a', 'a:3', 1);
    await eventually(async () => (await engine.nodes()).length === 0);
  });

  engineTest(
    'a node that resigns is forgotten, unless another incarnation has its id',
    async ({ engine }) => {
      await engine.register('a', 'a:1', LEASE_MS);
      await engine.register('a', 'a:2', LEASE_MS);
      await engine.resign('a', 'a:1');
      assert.deepEqual(await engine.nodes(), [{ nodeId: 'a', incarnation: 'a:2' }]);
      await engine.resign('a', 'a:2');
      assert.deepEqual(await engine.nodes(), []);
      assert.equal(await engine.renew('a', 'a:2', LEASE_MS), false);
      await engine.resign('unknown', 'unknown:1');
    },
  );

  engineTest('a shard changes its owner at the epoch that is expected, and at no other', async (world) => {
    const { engine, otherEngine } = world;
    const first = await engine.changeOwner(7, 0, 'a:1');
    assert.deepEqual(first, { isChanged: true, record: { owner: 'a:1', epoch: 1, revision: 0, wallMs: 0 } });
    await engine.commit([section(7, first.record, [])]);
    const record = { owner: 'a:1', epoch: 1, revision: 1, wallMs: 5 };
    assert.deepEqual(await otherEngine.changeOwner(7, 0, 'b:1'), { isChanged: false, record });
    const released = { ...record, owner: undefined, epoch: 2 };
    assert.deepEqual(await engine.changeOwner(7, 1, undefined), { isChanged: true, record: released });
    const taken = { ...record, owner: 'b:1', epoch: 3 };
    assert.deepEqual(await otherEngine.changeOwner(7, 2, 'b:1'), { isChanged: true, record: taken });
    const unclaimed = await engine.changeOwner(8, 4, 'a:1');
    assert.deepEqual(unclaimed, { isChanged: false, record: UNCLAIMED_RECORD });
    const records = await engine.records();
    assert.equal(records.length, shardCount());
    assert.deepEqual([records[7], records[8]], [taken, UNCLAIMED_RECORD]);
  });

  engineTest('a message reaches the listeners of its channel at all nodes, in order', async (world) => {
    const { engine, otherEngine } = world;
    const heard: string[] = [];
    const listen = (name: string) => (message: string) => void heard.push(`${name} ${message}`);
    assert.equal(await engine.publish('news', 'early'), 0);
    await engine.subscribe('news', listen('former'));
    await engine.subscribe('news', listen('one'));
    await otherEngine.subscribe('news', listen('other'));
    await otherEngine.subscribe('more', listen('wrong'));
    assert.equal(await engine.publish('news', 'first'), 2);
    await otherEngine.publish('news', 'second');
    await eventually(() => heard.length === 4);
    const heardBy = (name: string) => heard.filter((line) => line.startsWith(`${name} `));
    assert.deepEqual(heardBy('one'), ['one first', 'one second']);
    assert.deepEqual(heardBy('other'), ['other first', 'other second']);
    engine.unsubscribe('news');
    await eventually(async () => (await engine.publish('news', 'third')) === 1);
    await eventually(() => heard.includes('other third'));
    assert.equal(heardBy('one').length, 2);
  });

  engineTest('a message under way reaches the listener of that moment, or none', async (world) => {
    const { engine, otherEngine } = world;
    const heard: string[] = [];
    const listen = (name: string) => (message: string) => void heard.push(`${name} ${message}`);
    await engine.subscribe('news', listen('former'));
    await engine.subscribe('more', listen('left'));
    await engine.subscribe('end', listen('end'));
    // The listeners change before the messages arrive, because the test does not wait for the publication.
    const publications = ['news', 'more', 'end'].map((channel) => otherEngine.publish(channel, 'sent'));
    const replaced = engine.subscribe('news', listen('latter'));
    engine.unsubscribe('more');
    await Promise.all([replaced, ...publications]);
    await eventually(() => heard.includes('end sent'));
    assert.deepEqual(heard.sort(), ['end sent', 'latter sent']);
  });

  engineTest('the time is in whole milliseconds since the Unix epoch', async ({ engine }) => {
    const timeMs = await engine.timeMs();
    assert.ok(Number.isInteger(timeMs));
    assert.ok(Math.abs(timeMs - Date.now()) < 5_000, `${timeMs}`);
  });

  engineTest('the one server is a master that nodes may use', async ({ engine }) => {
    const servers = await engine.servers();
    refuseUnsafe(servers);
    const states = servers.map(
      ({ isMaster, evictionPolicy, memoryUse, writesToDisk, replicas, waitsForReplicas }) =>
        [isMaster, evictionPolicy, memoryUse, writesToDisk, replicas, waitsForReplicas] as const,
    );
    assert.deepEqual(states, [[true, 'noeviction', 0, true, 0, false]]);
  });

  engineTest('an engine that is closed does nothing more, and says so', async ({ engine, otherEngine }) => {
    const heard: string[] = [];
    await engine.subscribe('news', (message) => void heard.push(message));
    const record = await claim(engine, 3);
    assert.ok(engine.isAvailable());
    await engine.close();
    await eventually(() => !engine.isAvailable());
    const unavailable = { code: 'STORE_UNAVAILABLE' };
    await assert.rejects(engine.read([['GET', 'text']]), unavailable);
    await assert.rejects(engine.servers(), unavailable);
    await assert.rejects(engine.timeMs(), unavailable);
    await assert.rejects(
      engine.subscribe('news', () => undefined),
      unavailable,
    );
    // An engine may not know whether a write has left it.
    const isRefusal = ({ code }: { code?: string }) =>
      code === 'STORE_UNAVAILABLE' || code === 'OUTCOME_UNKNOWN';
    await assert.rejects(engine.append([['SET', 'text', 'one']]), isRefusal);
    await assert.rejects(engine.changeOwner(3, record.epoch, undefined), isRefusal);
    await assert.rejects(engine.renew('a', 'a:1', LEASE_MS), isRefusal);
    const [outcome] = await engine.commit([section(3, record, [[['SET', keyOf(3, 'text'), 'one']]])]);
    assert.ok(outcome?.code === 'unavailable' || outcome?.code === 'unknown', outcome?.code);
    await eventually(async () => (await otherEngine.publish('news', 'late')) === 0);
    assert.deepEqual(heard, []);
    assert.deepEqual(
      await otherEngine.read([
        ['GET', 'text'],
        ['GET', keyOf(3, 'text')],
      ]),
      [null, null],
    );
    assert.deepEqual((await otherEngine.records())[3], record);
  });
}

/** Claims a shard for the incarnation `a:1`, and returns its record. */
async function claim(engine: Engine, shard: number): Promise<ShardRecord> {
  const { epoch } = (await engine.records())[shard] as ShardRecord;
  const { record } = await engine.changeOwner(shard, epoch, 'a:1');
  return record;
}

/** A section of a shard with that record, with the writes of its turns. */
function section(shard: number, record: ShardRecord, turns: readonly (readonly Write[])[]): CommitSection {
  const next = recordText({ ...record, revision: record.revision + 1, wallMs: 5 });
  return { shard, expected: recordText(record), next, entries: turns.map((writes) => ({ writes })) };
}

function keyOf(shard: number, name: string): string {
  return shardKey(shard, name);
}
