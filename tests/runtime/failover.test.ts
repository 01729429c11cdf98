/** A node over an address that moves from a Redis to its replica. Each is a separate process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { type RedisLink, redisLink } from '../e2e/stack/redis-link.ts';
import { type RedisPair, startRedisPair } from '../e2e/stack/redis-pair.ts';
import { eventually } from '../testbed/waiting.ts';
import { counterAddress, counterKey } from './counter-behaviour.ts';
import { redisNode } from './redis-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

/** Runs a test on a pair and an address that leads to its master. */
async function onPair(run: (pair: RedisPair, link: RedisLink) => Promise<void>): Promise<void> {
  const pair = await startRedisPair();
  const link = await redisLink(pair.master().socketPath);
  try {
    await run(pair, link);
  } finally {
    await link.close();
    await pair.stop();
  }
}

test('a failover that keeps every connection open and outlasts the lease is noticed, and two nodes continue', () =>
  onPair(async (pair, link) => {
    const limits = { leaseMs: 2_000, renewEveryMs: 400, claimEveryMs: 400 };
    const stopped: string[] = [];
    const hooks = { deactivated: (_: unknown, reason: string) => void stopped.push(reason) };
    const a = await redisNode({ redisUrl: link.url, limits, hooks });
    const b = await redisNode({ redisUrl: link.url, limits, hooks, nodeId: 'b' });
    const nodes = [a.node, b.node];
    const share = (node: typeof a.node): number => node.shards().filter(({ isMine }) => isMine).length;
    await eventually(() => nodes.every((node) => share(node) === 64));
    const owner = (): typeof a.node | undefined => nodes.find((node) => node.actors.owns(firstAddress.shard));
    await eventually(() => owner() !== undefined);
    assert.equal(await owner()?.actors.ask(firstAddress, add(1)), 1);
    stopped.length = 0;
    await pair.changeRoles();
    await eventually(() => nodes.every((node) => node.leaseMarginMs() === 0));
    // The old master gets no messages from the new one, so its listeners get none either.
    await pair.strandReplica();
    link.moveTo(pair.master().socketPath);
    await eventually(() => nodes.every((node) => node.isReady()) && owner() !== undefined);
    assert.equal(await owner()?.actors.ask(firstAddress, add(1)), 2);
    assert.deepEqual(stopped, [], 'its actors, and so their sessions, were kept');
    await eventually(() => nodes.every((node) => node.nodes().length === 2));
    for (const node of nodes) node.link.serve(async (payload) => `${node.nodeId} heard ${payload}`);
    // This uses the connections that only listen. They write nothing, so no server would refuse them. Each comes back
    // by itself. Messages before both are there are lost.
    const hears = async (from: typeof a.node, to: string): Promise<boolean> =>
      (await from.link.call(to, 'this', 500).catch(() => undefined)) === `${to} heard this`;
    await eventually(async () => (await hears(a.node, 'b')) && (await hears(b.node, 'a')));
    const told = a.log.warnings.filter((message) => message.includes('its address is resolved again'));
    assert.equal(told.length, 1, a.log.warnings.join('\n'));
    await a.node.stop();
    await b.node.stop();
  }));

test('with replica durability nothing follows from a commit until a replica has it, and no failover loses it', () =>
  onPair(async (pair, link) => {
    const performed: number[] = [];
    const hooks = { performed: ({ total }: { readonly total: number }) => void performed.push(total) };
    const { node, log } = await redisNode({ redisUrl: link.url, hooks, durability: 'replica' });
    assert.equal(await node.actors.ask(firstAddress, add(1)), 1);
    assert.deepEqual(performed, [1]);
    await pair.strandReplica();
    await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'OUTCOME_UNKNOWN' });
    assert.ok(log.errors.some((message) => message.includes('no replica of Redis confirmed a write')));
    const master = new Redis(pair.master().socketPath);
    assert.equal(await master.hget(counterKey('one'), 'total'), '2', 'the master has it');
    master.disconnect();
    assert.deepEqual(performed, [1], 'and nothing followed');
    await pair.loseMaster();
    const heir = new Redis(pair.master().socketPath);
    await heir.replicaof('NO', 'ONE');
    heir.disconnect();
    await pair.rejoin();
    link.moveTo(pair.master().socketPath);
    const read = () => node.actors.ask(firstAddress, { type: 'read' }).catch(() => undefined);
    await eventually(async () => (await read()) === 1);
    assert.equal(await node.actors.ask(firstAddress, add(1)), 2);
    await eventually(() => performed.length === 2);
    assert.deepEqual(performed, [1, 2], 'the second is not the one that was lost');
    await node.stop();
  }));

test('with replica durability a commit counts once its replica comes back', () =>
  onPair(async (pair, link) => {
    const performed: number[] = [];
    const hooks = { performed: ({ total }: { readonly total: number }) => void performed.push(total) };
    const { node } = await redisNode({ redisUrl: link.url, hooks, durability: 'replica' });
    await pair.strandReplica();
    await assert.rejects(node.actors.ask(firstAddress, add(1)), { code: 'OUTCOME_UNKNOWN' });
    await pair.follow();
    await eventually(() => performed.length === 1);
    assert.equal(await node.actors.ask(firstAddress, { type: 'read' }), 1);
    await node.stop();
  }));

test('a failover that lost acknowledged writes is noticed without a write: memory agrees with Redis', () =>
  onPair(async (pair, link) => {
    const stopped: string[] = [];
    const hooks = { deactivated: (_: unknown, reason: string) => void stopped.push(reason) };
    const { node, log } = await redisNode({ redisUrl: link.url, hooks });
    assert.equal(await node.actors.ask(firstAddress, add(1)), 1);
    const replica = new Redis(pair.replica().socketPath);
    await eventually(async () => (await replica.hget(counterKey('one'), 'total')) === '1');
    replica.disconnect();
    await pair.part();
    assert.equal(await node.actors.ask(firstAddress, add(1)), 2);
    await pair.loseMaster();
    link.moveTo(pair.master().socketPath);
    const read = () => node.actors.ask(firstAddress, { type: 'read' }).catch(() => undefined);
    await eventually(async () => (await read()) === 1);
    assert.deepEqual(stopped, ['lost']);
    assert.ok(log.errors.some((message) => message.includes('older revision')));
    assert.equal(node.counters.revertedShards, 1);
    assert.equal(await node.actors.ask(firstAddress, add(1)), 2);
    await node.stop();
  }));
