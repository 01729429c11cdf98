import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { HOUR_MS } from '../../runtime/durations.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { eventually } from '../testbed/waiting.ts';
import { counterAddress } from './counter-behaviour.ts';
import { type RedisNode, redisNode, redisProxy } from './redis-node.ts';

const firstAddress = counterAddress('one');
const add = (amount: number) => ({ type: 'add', by: amount }) as const;

const { url: redisUrl } = sharedRedis();

const held = ({ node }: RedisNode): number => node.shards().filter(({ isMine }) => isMine).length;

/** Asserts that each node has its share, and that each shard has one owner. */
async function spread(nodes: readonly RedisNode[]): Promise<void> {
  const share = Math.floor(128 / nodes.length);
  await eventually(() => {
    const counts = nodes.map(held);
    return (
      counts.every((count) => count >= share && count <= share + 1) && counts.reduce((a, b) => a + b) === 128
    );
  });
}

test('shards spread evenly when a node joins, and again when one leaves', async () => {
  const nodes = [await redisNode({ redisUrl, nodeId: 'a' })];
  await spread(nodes);
  nodes.push(await redisNode({ redisUrl, nodeId: 'b' }));
  await spread(nodes);
  nodes.push(await redisNode({ redisUrl, nodeId: 'c' }));
  await spread(nodes);
  await nodes.shift()?.node.stop();
  await spread(nodes);
  await Promise.all(nodes.map(({ node }) => node.stop()));
});

test('a hand-over settles commands in progress, refuses new ones, and the next node continues from there', async () => {
  const drained: string[] = [];
  const stopped: string[] = [];
  let inProgress = true;
  const first = await redisNode({
    redisUrl,
    nodeId: 'a',
    hooks: {
      drained: ({ id }) => void drained.push(id),
      settled: () => !inProgress,
      deactivated: ({ id }, reason) => void stopped.push(`${id} ${reason}`),
    },
  });
  const total = (await first.node.actors.ask(firstAddress, add(3))) as number;
  const startedMs = performance.now();
  const stopping = first.node.stop();
  await eventually(() => drained.includes('one'));
  await assert.rejects(first.node.actors.ask(firstAddress, add(1)), { code: 'SHARD_NOT_OWNED' });
  // A control command settles the actor's current work, and is committed, while the actor is being handed over.
  first.node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  await eventually(() => first.node.actors.peek<{ total: number }>(firstAddress)?.total === total + 1);
  assert.deepEqual(stopped, []);
  inProgress = false;
  first.node.actors.tell(firstAddress, { type: 'event', does: 'add' });
  await stopping;
  assert.ok(performance.now() - startedMs < 2_000, 'it took longer than the contract says');
  assert.deepEqual(stopped, ['one released']);
  const secondNode = await redisNode({ redisUrl, nodeId: 'b' });
  assert.equal(await secondNode.node.actors.ask(firstAddress, { type: 'read' }), total + 2);
  await secondNode.node.stop();
});

test('a request is forwarded once to the owner, whichever node got it, and failures keep their code', async () => {
  const nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => redisNode({ redisUrl, nodeId })));
  await spread(nodes);
  for (const { node } of nodes) {
    node.link.serve(async (payload) => {
      if (payload === 'full') throw new RuntimeFailure('MAILBOX_FULL', 'no room', 3);
      if (payload === 'broken') throw new Error('secret detail');
      if (payload === 'silent') return await new Promise<string>(() => undefined);
      return `${payload}\nfrom ${node.nodeId}`;
    });
  }
  await eventually(() => nodes.every(({ node }) => node.shards().every(({ owner }) => owner !== undefined)));
  for (const { node } of nodes) {
    for (const shard of [0, 50, 127]) {
      const owner = nodes.find((otherNode) => otherNode.node.actors.owns(shard))?.node.nodeId;
      assert.equal(
        await node.link.call(shard, 'line one\nline two', 2_000),
        `line one\nline two\nfrom ${owner}`,
      );
    }
  }
  const [a] = nodes;
  assert.equal(await a?.node.link.call('b', 'you', 2_000), 'you\nfrom b');
  await assert.rejects(a?.node.link.call('b', 'full', 2_000) ?? Promise.resolve(), {
    code: 'MAILBOX_FULL',
    retryAfterSeconds: 3,
  });
  await assert.rejects(a?.node.link.call('b', 'broken', 2_000) ?? Promise.resolve(), {
    code: 'OUTCOME_UNKNOWN',
    message: /^(?!.*secret)/,
  });
  const told = nodes.map(
    ({ log }) => log.errors.filter((line) => line.includes('could not be handled')).length,
  );
  assert.deepEqual(told, [0, 1, 0], 'the node that failed says why');
  await assert.rejects(a?.node.link.call('b', 'silent', 50) ?? Promise.resolve(), {
    code: 'DEADLINE_EXCEEDED',
  });
  await assert.rejects(a?.node.link.call('nobody', 'you', 50) ?? Promise.resolve(), {
    code: 'SHARD_NOT_OWNED',
  });
  // A node that handed over its shards still asks the others. Questions without an answer at its end may have taken
  // effect.
  await a?.node.handOver();
  assert.deepEqual([a?.node.actors.owns(0), a?.node.isReady()], [false, false]);
  assert.equal(await a?.node.link.call('b', 'you', 2_000), 'you\nfrom b');
  const unanswered = assert.rejects(a?.node.link.call('b', 'silent', 60_000) ?? Promise.resolve(), {
    code: 'OUTCOME_UNKNOWN',
  });
  await Promise.all(nodes.map(({ node }) => node.stop()));
  await unanswered;
});

test('the shards of a node that fell silent are taken over when its lease ends, and it writes nothing after that', async () => {
  const limits = { leaseMs: 500, renewEveryMs: 100, claimEveryMs: 100 };
  const performed: string[] = [];
  // The silent node does not renew its lease, and notices that only after the take-over.
  const silentNode = await redisNode({
    redisUrl,
    nodeId: 'a',
    limits: { ...limits, leaseMs: 2_000, renewEveryMs: HOUR_MS, claimEveryMs: HOUR_MS },
    hooks: { performed: () => void performed.push('late') },
  });
  const total = (await silentNode.node.actors.ask(firstAddress, { type: 'live', on: true })) as number;
  performed.length = 0;
  const woken: string[] = [];
  const otherNode = await redisNode({
    redisUrl,
    nodeId: 'b',
    limits,
    hooks: { activated: ({ id }) => void woken.push(id) },
  });
  await eventually(() => held(otherNode) === 128 && woken.includes('one'), 5_000);
  await assert.rejects(silentNode.node.actors.ask(firstAddress, add(1)));
  assert.deepEqual(performed, []);
  assert.equal(await otherNode.node.actors.ask(firstAddress, { type: 'read' }), total);
  await Promise.all([silentNode.node.stop(), otherNode.node.stop()]);
});

test('after a Redis that was away longer than the leases, the first node back takes nothing of the others', async (context) => {
  // A connection is tried again after half a second at most. A lease is longer.
  const limits = { leaseMs: 2_000, renewEveryMs: 100, claimEveryMs: 100 };
  const stopped: string[] = [];
  const hooks = {
    deactivated: ({ id }: { id: string }, reason: string) => void stopped.push(`${id} ${reason}`),
  };
  const proxies = [await redisProxy(redisUrl), await redisProxy(redisUrl)];
  const nodes: RedisNode[] = [];
  const redis = new Redis(redisUrl);
  context.after(async () => {
    redis.disconnect();
    for (const proxy of proxies) proxy.mend();
    await Promise.all(nodes.map(({ node }) => node.stop()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });
  for (const [index, { url }] of proxies.entries())
    nodes.push(await redisNode({ redisUrl: url, nodeId: `n${index}`, limits, hooks }));
  await spread(nodes);
  const owner = nodes.find(({ node }) => node.actors.owns(firstAddress.shard));
  const [late, early] = owner === nodes[0] ? [0, 1] : [1, 0];
  await owner?.node.actors.ask(firstAddress, { type: 'live', on: true });
  stopped.length = 0;
  for (const proxy of proxies) proxy.break();
  await eventually(() => nodes.every(({ node }) => node.leaseMarginMs() === 0));
  // Redis ends a lease a moment after its node does.
  await eventually(async () => (await redis.exists('{runtime}:lease:n0', '{runtime}:lease:n1')) === 0);
  proxies[early]?.mend();
  await eventually(() => nodes[early]?.node.isReady() === true);
  // It is so late that the other node has read the members more than once. No other node asks for members now.
  const looks = async (): Promise<number> =>
    Number(/cmdstat_smembers:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const looksBefore = await looks();
  await eventually(async () => (await looks()) >= looksBefore + 3);
  proxies[late]?.mend();
  await eventually(() => owner?.node.isReady() === true && owner.node.actors.owns(firstAddress.shard));
  await spread(nodes);
  assert.deepEqual(stopped, [], 'the actors went on, and with them their sockets');
});
