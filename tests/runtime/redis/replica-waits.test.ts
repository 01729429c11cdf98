/** A commit waits for a replica, and that proves something about it. A real Redis has a real replica. */
import assert from 'node:assert/strict';
import { createConnection, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { systemClock } from '../../../runtime/clock.ts';
import { type CommitSection, recordText } from '../../../runtime/engine.ts';
import { RedisEngine } from '../../../runtime/redis/redis-engine.ts';
import { type RedisPair, startRedisPair } from '../../e2e/stack/redis-pair.ts';
import { listening } from '../../testbed/listening.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { eventually } from '../../testbed/waiting.ts';
import { counterAddress } from '../counter-behaviour.ts';
import { redisNode } from '../redis-node.ts';

let pair: RedisPair;
let master: Redis;

before(async () => {
  pair = await startRedisPair();
  master = new Redis(pair.master().socketPath);
  await replicaConfirms();
});

after(async () => {
  master.disconnect();
  await pair.stop();
});

/** Waits until the replica confirms writes. It follows a second before it does. */
async function replicaConfirms(): Promise<void> {
  await eventually(async () => {
    await master.set('text', 'written');
    return (await master.wait(1, 100)) === 1;
  });
}

/** Returns how many `WAIT`s the master has begun. */
async function waits(): Promise<number> {
  return Number(/cmdstat_wait:calls=(\d+)/.exec(await master.info('commandstats'))?.[1] ?? 0);
}

/** Leaves the master without its replica, and returns once it knows. */
async function loseReplica(): Promise<void> {
  await pair.strandReplica();
  await eventually(async () => (await master.info('replication')).includes('connected_slaves:0'));
}

/** A proxy before the master. It can hold back what a connection hears after its next `WAIT`. */
interface HeldWaits {
  readonly url: string;
  /** From now on the answers after a `WAIT` are held back. */
  hold(): void;
  /** The bytes that are held back. */
  heldBytes(): number;
  /** Passes everything on that was held back, in one piece. */
  release(): void;
  close(): void;
}

async function heldWaits(): Promise<HeldWaits> {
  const sockets = new Set<Socket>();
  let isHolding = false;
  let held: { readonly client: Socket; readonly pieces: Buffer[] } | undefined;
  const server = createServer((client) => {
    const redis = createConnection(pair.master().socketPath);
    for (const socket of [client, redis]) sockets.add(socket.on('error', () => socket.destroy()));
    client.on('data', (bytes) => {
      if (isHolding && bytes.includes('WAIT')) held ??= { client, pieces: [] };
      redis.write(bytes);
    });
    redis.on('data', (bytes) => {
      if (held?.client === client) held.pieces.push(bytes);
      else client.write(bytes);
    });
  });
  const port = await listening(server);
  return {
    url: `redis://127.0.0.1:${port}`,
    hold() {
      isHolding = true;
    },
    heldBytes: () => Buffer.concat(held?.pieces ?? []).length,
    release() {
      isHolding = false;
      held?.client.write(Buffer.concat(held.pieces));
      held = undefined;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Returns an engine that waits for replicas, and the next commit of each of two of its shards. */
async function durableEngine(
  url: string,
): Promise<{ readonly engine: RedisEngine; readonly sections: readonly [CommitSection, CommitSection] }> {
  await master.flushall();
  const options = { log: new QuietLog(), clock: systemClock, answerMs: 10_000 };
  const engine = await RedisEngine.connect(url, { ...options, durability: 'replica' });
  const sectionOf = async (shard: number): Promise<CommitSection> => {
    const { record } = await engine.changeOwner(shard, 0, 'a:1');
    const next = recordText({ ...record, revision: 1 });
    return {
      shard,
      expected: recordText(record),
      next,
      entries: [{ writes: [['SET', `{s${shard}}:text`, 'written']] }],
    };
  };
  return { engine, sections: [await sectionOf(3), await sectionOf(4)] };
}

test('two commits of one moment share a wait for the replica', async (context) => {
  const { engine, sections } = await durableEngine(pair.master().socketPath);
  context.after(() => engine.close());
  const earlierWaits = await waits();
  const outcomes = await Promise.all(sections.map((section) => engine.commit([section])));
  assert.deepEqual(outcomes, [[{ code: 'committed' }], [{ code: 'committed' }]]);
  assert.equal(await waits(), earlierWaits + 1);
});

test('a wait proves nothing about a commit behind it, though both are answered in one piece', async (context) => {
  const proxy = await heldWaits();
  context.after(() => proxy.close());
  const { engine, sections } = await durableEngine(proxy.url);
  context.after(() => engine.close());
  proxy.hold();
  const first = engine.commit([sections[0]]);
  await eventually(() => proxy.heldBytes() > 0);
  const waitBytes = proxy.heldBytes();
  await loseReplica();
  context.after(() => pair.follow().then(replicaConfirms));
  const second = engine.commit([sections[1]]);
  await eventually(() => proxy.heldBytes() > waitBytes);
  proxy.release();
  assert.deepEqual((await first)[0]?.code, 'committed', 'the replica has it');
  assert.deepEqual((await second)[0]?.code, 'unknown', 'only the master has it');
});

test('a confirmed read shows no commit that is on no replica', async (context) => {
  const { engine, sections } = await durableEngine(pair.master().socketPath);
  context.after(() => engine.close());
  const reads = [['GET', '{s3}:text']] as const;
  await loseReplica();
  context.after(() => pair.follow().then(replicaConfirms));
  assert.deepEqual((await engine.commit([sections[0]]))[0]?.code, 'unknown');
  assert.deepEqual(await engine.read(reads), ['written'], 'the master has it');
  await assert.rejects(engine.readConfirmed(reads), { code: 'STORE_UNAVAILABLE' });
  await pair.follow();
  await replicaConfirms();
  assert.deepEqual(await engine.readConfirmed(reads), ['written']);
  await loseReplica();
  assert.deepEqual(await engine.readConfirmed(reads), ['written'], 'it was confirmed before');
});

test('a confirmed read does not count a wait that began before the commit that it shows', async (context) => {
  const proxy = await heldWaits();
  context.after(() => proxy.close());
  const { engine, sections } = await durableEngine(proxy.url);
  context.after(() => engine.close());
  proxy.hold();
  const first = engine.commit([sections[0]]);
  await eventually(() => proxy.heldBytes() > 0);
  const waitBytes = proxy.heldBytes();
  await loseReplica();
  context.after(() => pair.follow().then(replicaConfirms));
  const second = engine.commit([sections[1]]);
  await eventually(() => proxy.heldBytes() > waitBytes);
  const reads = [['GET', '{s4}:text']] as const;
  assert.deepEqual(await engine.read(reads), ['written'], 'the master has the second');
  const refused = assert.rejects(engine.readConfirmed(reads), { code: 'STORE_UNAVAILABLE' });
  await engine.read(reads);
  proxy.release();
  await Promise.all([first, second, refused]);
});

test('a wait on a new connection does not count a replica that is behind', async (context) => {
  const { engine, sections } = await durableEngine(pair.master().socketPath);
  context.after(() => engine.close());
  const replica = new Redis(pair.replica().socketPath);
  const pid = Number(/^process_id:(\d+)/m.exec(await replica.info('server'))?.[1]);
  replica.disconnect();
  process.kill(pid, 'SIGSTOP');
  context.after(() => process.kill(pid, 'SIGCONT'));
  assert.deepEqual((await engine.commit([sections[0]]))[0]?.code, 'unknown');
  await master.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  const reads = [['GET', '{s3}:text']] as const;
  await eventually(async () => (await engine.read(reads).catch(() => []))[0] === 'written');
  await eventually(() => engine.isAvailable());
  await assert.rejects(engine.readConfirmed(reads), { code: 'STORE_UNAVAILABLE' });
  process.kill(pid, 'SIGCONT');
  await replicaConfirms();
  assert.deepEqual(await engine.readConfirmed(reads), ['written']);
});

test('without a replica, many shards in doubt cost neither the lease nor the time of later calls', async (context) => {
  await master.flushall();
  const limits = { leaseMs: 3_000, renewEveryMs: 500 };
  const { node, log } = await redisNode({
    redisUrl: pair.master().socketPath,
    durability: 'replica',
    limits,
  });
  context.after(() => pair.follow().then(() => node.stop()));
  const addresses = new Map(
    Array.from({ length: 100 }, (_, index) => counterAddress(`busy ${index}`)).map((at) => [at.shard, at]),
  );
  const [later, ...busy] = addresses.values();
  assert.ok(later !== undefined && busy.length > 20);
  await loseReplica();
  const earlierWaits = await waits();
  const add = { type: 'add', by: 1 } as const;
  const outcomes = await Promise.allSettled(busy.map((address) => node.actors.ask(address, add)));
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  const waitsBefore = await waits();
  await assert.rejects(node.actors.ask(later, add), { code: 'OUTCOME_UNKNOWN' });
  // Each takes a second, and the contract says that a call is refused within 2.5.
  assert.ok((await waits()) - waitsBefore <= 3, 'the call waited for waits of other shards');
  // Longer than the lease.
  await eventually(async () => (await waits()) >= earlierWaits + 6);
  assert.deepEqual(
    log.warnings.filter((message) => message.includes('the lease')),
    [],
  );
  assert.ok(node.isReady());
  await pair.follow();
  for (const address of [later, ...busy]) {
    const read = () => node.actors.ask(address, { type: 'read' }).catch(() => undefined);
    await eventually(async () => (await read()) === 1);
  }
});
