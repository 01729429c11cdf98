/**
 * One node of the runtime in a separate process. Its actors write journals: each command is pushed to its actor's list
 * in Redis. Its effect, and the answer to its caller, are pushed over a separate connection. One Redis gets both,
 * so its append-only file has everything in the order in which it happened.
 */
import { Redis } from 'ioredis';
import * as v from 'valibot';
import { shardKey } from '../../runtime/address.ts';
import type { Behaviour } from '../../runtime/behaviour.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { type RuntimeNode, startNode } from '../../runtime/node/node.ts';
import { systemRandom } from '../../runtime/random.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { TEST_CIPHERS } from '../runtime/test-ciphers.ts';

const { nodeId, redisUrl, witnessUrl, limits } = v.parse(
  v.object({
    nodeId: v.string(),
    redisUrl: v.string(),
    witnessUrl: v.string(),
    limits: v.record(v.string(), v.number()),
  }),
  JSON.parse(process.argv[2] ?? ''),
);

/** The orders of the test to this process. */
const order = v.variant('type', [
  v.object({ type: v.literal('ask'), shard: v.number(), id: v.string() }),
  /** Sends commands without a pause from here on, a number of them at a time, whatever shards it owns. */
  v.object({ type: v.literal('load'), shards: v.array(v.number()), width: v.number() }),
  /** Ends the load, and sets the clock right. */
  v.object({ type: v.literal('rest') }),
  /** Keeps the event loop busy. */
  v.object({ type: v.literal('block'), forMs: v.number() }),
  v.object({ type: v.literal('step wall clock'), byMs: v.number() }),
  /** Reports its own state of a shard, for a test that waited for an answer in vain. */
  v.object({ type: v.literal('describe'), shard: v.number(), id: v.string() }),
]);

const witness = new Redis(witnessUrl, { maxRetriesPerRequest: null });
witness.on('error', () => undefined);
let witnessed = 0;
/** A serial, since the client repeats what a Redis that was restarted did not answer. */
function tell(words: string): void {
  witnessed += 1;
  void witness.rpush('witness', `${words} ${process.pid}.${witnessed}`);
}

let wallStepMs = 0;
const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + wallStepMs };

const journal: Behaviour<number, { id: string }, string> = {
  kind: 'journal',
  load: async () => 0,
  readFacts: () => undefined,
  turn: (state, command, { address }) => {
    const { id } = command as { id: string };
    return {
      state: state + 1,
      writes: [['RPUSH', shardKey(address.shard, 'journal', address.id), id]],
      effects: [id],
      reply: id,
    };
  },
  lane: () => 'client',
  size: () => 10,
  perform: (id) => tell(`effect ${id} ${nodeId}`),
  timers: () => [],
  mustLive: () => false,
  activated: () => ({}),
  deactivated: () => undefined,
  describe: (state) => ({ state }),
};

let lastRefusal = 'none';
async function ask(node: RuntimeNode, shard: number, id: string): Promise<void> {
  try {
    await node.actors.ask({ shard, kind: 'journal', id: id.slice(-1) }, { id });
    tell(`acknowledged ${id}`);
  } catch (error) {
    if (!(error instanceof RuntimeFailure)) throw error;
    lastRefusal = `${id}: ${error.code}, ${error.message}`;
    tell(`${error.code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'refused'} ${id}`);
  }
}

let asked = 0;
let loaded = 0;
async function load(node: RuntimeNode, shards: readonly number[], round: number): Promise<void> {
  while (round === loaded) {
    const own = shards.filter((shard) => node.actors.owns(shard));
    const shard = own[Math.floor(systemRandom() * own.length)];
    asked += 1;
    if (shard !== undefined) await ask(node, shard, `${nodeId}-${process.pid}-${asked}`);
    await new Promise<void>((resolve) => systemClock.after(2, resolve));
  }
}

function describe(node: RuntimeNode, shard: number): object {
  return {
    incarnation: node.incarnation,
    clockAheadMs: node.clockAheadMs(),
    leaseMarginMs: Math.round(node.leaseMarginMs()),
    isReady: node.isReady(),
    isBusy: node.isBusy(),
    mayAct: node.actors.owns(shard),
    shard: node.shards()[shard],
    nodes: node.nodes(),
    lastRefusal,
  };
}

function obey(node: RuntimeNode, text: string): void {
  const wanted = v.parse(order, JSON.parse(text));
  if (wanted.type === 'ask') void ask(node, wanted.shard, wanted.id);
  if (wanted.type === 'load' || wanted.type === 'rest') loaded += 1;
  if (wanted.type === 'load') {
    for (let count = 0; count < wanted.width; count += 1) void load(node, wanted.shards, loaded);
  }
  if (wanted.type === 'rest') wallStepMs = 0;
  if (wanted.type === 'describe')
    tell(`described ${wanted.id} ${JSON.stringify(describe(node, wanted.shard))}`);
  if (wanted.type === 'step wall clock') wallStepMs += wanted.byMs;
  if (wanted.type === 'block') {
    const endMs = performance.now() + wanted.forMs;
    while (performance.now() < endMs);
  }
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined };
// Without Redis there is no start; the test starts it again.
process.once('uncaughtException', ({ message }) => {
  console.error(`${nodeId}: ${message}`);
  process.exit(1);
});
const node = await startNode({
  redisUrl,
  nodeId,
  clock,
  random: systemRandom,
  log: { ...silent, error: (fields, message) => console.error(message, fields) },
  ...TEST_CIPHERS,
  limits,
  onLost: () => process.exit(1),
});
node.register(journal);
const orders = new Redis(witnessUrl);
orders.on('error', () => undefined);
orders.on('message', (_channel, text) => obey(node, text));
await orders.subscribe(`orders:${nodeId}`);
process.once('SIGTERM', () => {
  loaded += 1;
  void node.stop().then(async () => {
    await witness.quit();
    process.exit(0);
  });
});
await node.run();
console.log(JSON.stringify({ ready: true, incarnation: node.incarnation }));
