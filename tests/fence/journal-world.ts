import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import * as v from 'valibot';
import { shardCount } from '../../runtime/address.ts';
import { parseRecord } from '../../runtime/engine.ts';
import { type GuardedProcess, spawnGuarded } from '../../service/dev/guarded-process.ts';
import { readReadyLine } from '../../service/dev/ready-line.ts';
import { type RedisLink, redisLink } from '../e2e/stack/redis-link.ts';
import { type RedisServer, startRedisServer } from '../testbed/redis-server.ts';
import { moduleFile, nodeFlags, root } from '../testbed/root.ts';
import { until } from '../testbed/waiting.ts';
import { type Breakage, brokenRuntime } from './broken-runtime.ts';
import { type Journal, readJournal } from './journal.ts';

const JOURNAL = 'tests/fence/journal-process.ts';
const readyLine = v.object({ ready: v.literal(true), incarnation: v.string() });

/** Short, so that a run sees many leases end. */
const limits = {
  leaseMs: 800,
  renewEveryMs: 150,
  claimEveryMs: 100,
  answerMs: 500,
  retryMs: 50,
  settleMs: 200,
};

/** How long a lease of these nodes lasts. */
export const LEASE_MS = limits.leaseMs;

/** One node that writes journals, in a separate process with a separate connection. */
export interface JournalNode {
  readonly nodeId: string;
  readonly link: RedisLink;
  /**
   * Sends it an order, see `journal-process.ts`. Resolves when Redis has passed it on. False: the node did not listen,
   * as while it starts.
   */
  order(order: object): Promise<boolean>;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, and the next process under its name. */
  restart(): Promise<void>;
}

/** How long a wait lasts at most, in milliseconds; see `until`. */
interface WaitOptions {
  readonly withinMs?: number;
}

/** Nodes on one Redis, and the witness of what they do. */
export interface JournalWorld {
  readonly server: RedisServer;
  start(nodeId: string): Promise<JournalNode>;
  /** Waits until a shard belongs to the node, or with undefined to none. */
  untilOwned(shard: number, nodeId: string | undefined): Promise<void>;
  /** Resolves with a shard of a node whose actor answers there. */
  shardOf(nodeId: string): Promise<number>;
  /** Waits until all nodes own the same number of shards. Until then a shard may move. */
  untilBalanced(): Promise<void>;
  /** Waits for a line of the witness that matches, and resolves with it. */
  untilTold(words: RegExp): Promise<string>;
  /** Resolves with the number of acknowledged commands that the witness has. */
  acknowledged(): Promise<number>;
  /**
   * Asks the actor of a shard, at its owner or at the given node, until it answers. Fails with what each node believes.
   */
  untilAnswered(shard: number, options?: WaitOptions & { readonly nodeId?: string }): Promise<void>;
  /** Ends all nodes with a hand-over and reads their data. */
  end(): Promise<Journal>;
  stop(): Promise<void>;
}

/** Starts Redis; nodes come with `start`. They run this runtime, or a copy in which something is broken. */
export async function startJournalWorld(breakage?: Breakage): Promise<JournalWorld> {
  const server = await startRedisServer({
    appendfsync: 'no',
    extraArgs: ['--auto-aof-rewrite-percentage', '0'],
  });
  const copy = breakage === undefined ? undefined : brokenRuntime(breakage);
  const redis = new Redis(server.url);
  redis.on('error', () => undefined);
  const processes: (() => GuardedProcess)[] = [];
  const nodes: JournalNode[] = [];
  const links: RedisLink[] = [];
  let asked = 0;
  const untilTold = (words: RegExp, waitOptions: WaitOptions = {}): Promise<string> =>
    until(
      String(words),
      async () => {
        const entries = await redis.lrange('witness', -5_000, -1);
        return entries.find((entry) => words.test(entry));
      },
      waitOptions,
    );
  const answers = async (shard: number, nodeId: string | undefined): Promise<boolean> => {
    asked += 1;
    // Every id with this end belongs to the same actor.
    const id = `asked-${asked}-0`;
    const atNode = nodeId ?? (await ownerOf(redis, shard));
    const order = { type: 'ask', shard, id };
    // It may be starting, and not listen yet.
    if ((await redis.publish(`orders:${atNode}`, JSON.stringify(order))) === 0) return false;
    const told = await untilTold(new RegExp(`^(acknowledged|refused|unknown) ${id}`));
    return told.startsWith('acknowledged');
  };
  const owners = (): Promise<(string | undefined)[]> =>
    Promise.all(Array.from({ length: shardCount() }, (_, shard) => ownerOf(redis, shard)));
  const describe = async (shard: number): Promise<string> => {
    const lines = nodes.map(async (node) => {
      asked += 1;
      const id = `${asked}-${node.nodeId}`;
      if (!(await node.order({ type: 'describe', shard, id }))) return `${node.nodeId} does not listen`;
      return await untilTold(new RegExp(`^described ${id} `), { withinMs: 2_000 }).catch(
        () => `${node.nodeId} says nothing`,
      );
    });
    const record = await redis.get(`{s${shard}}:owner`);
    return [`its record: ${record}`, ...(await Promise.all(lines))].join('\n');
  };
  return {
    server,
    async start(nodeId) {
      const link = await redisLink(server.socketPath);
      links.push(link);
      const begin = async (): Promise<GuardedProcess> => {
        const startedProcess = spawnJournal(copy?.directory ?? root, {
          nodeId,
          redisUrl: link.url,
          witnessUrl: server.url,
        });
        try {
          await readReadyLine(startedProcess, { schema: readyLine });
          return startedProcess;
        } catch {
          // Redis was away.
          return await begin();
        }
      };
      let currentProcess = await begin();
      processes.push(() => currentProcess);
      const node: JournalNode = {
        nodeId,
        link,
        async order(order) {
          return (await redis.publish(`orders:${nodeId}`, JSON.stringify(order))) > 0;
        },
        signal: (signal) => void currentProcess.signal(signal),
        async restart() {
          currentProcess.signal('SIGKILL');
          await currentProcess.ended;
          currentProcess = await begin();
        },
      };
      nodes.push(node);
      return node;
    },
    async untilOwned(shard, nodeId) {
      await until(
        `${nodeId ?? 'nobody'} owns shard ${shard}`,
        async () => (await ownerOf(redis, shard)) === nodeId,
      );
    },
    async shardOf(nodeId) {
      return await until(`${nodeId} answers for a shard`, async () => {
        const shard = (await owners()).indexOf(nodeId);
        return shard >= 0 && (await answers(shard, nodeId)) && shard;
      });
    },
    async untilBalanced() {
      await until('each node owns as many shards', async () => {
        const allOwners = await owners();
        return nodes.every(
          ({ nodeId }) =>
            allOwners.filter((owner) => owner === nodeId).length * nodes.length === shardCount(),
        );
      });
    },
    untilTold,
    async acknowledged() {
      const entries = await redis.lrange('witness', 0, -1);
      return entries.filter((entry) => entry.startsWith('acknowledged ')).length;
    },
    async untilAnswered(shard, { nodeId, ...waitOptions } = {}) {
      try {
        await until(`the actor of shard ${shard} answers`, () => answers(shard, nodeId), waitOptions);
      } catch (error) {
        throw new Error(`${(error as Error).message}; ${await describe(shard)}`);
      }
    },
    async end() {
      await Promise.all(processes.map((process) => process().stop({ graceMs: 10_000 })));
      return readJournal(dirname(server.socketPath));
    },
    async stop() {
      await Promise.all(processes.map((process) => process().stop({ graceMs: 0 })));
      redis.disconnect();
      await Promise.all(links.map((link) => link.close()));
      await server.stop();
      copy?.remove();
    },
  };
}

function spawnJournal(
  directory: string,
  options: { readonly nodeId: string; readonly redisUrl: string; readonly witnessUrl: string },
): GuardedProcess {
  return spawnGuarded({
    name: options.nodeId,
    command: process.execPath,
    args: [
      // A copy in which something is broken holds sources alone.
      ...(directory === root
        ? [...nodeFlags, moduleFile(JOURNAL)]
        : ['--import', import.meta.resolve('tsx'), join(directory, JOURNAL)]),
      JSON.stringify({ ...options, limits }),
    ],
    workingDirectory: directory,
    environment: { PATH: dirname(process.execPath) },
    output: 'read',
  });
}

async function ownerOf(redis: Redis, shard: number): Promise<string | undefined> {
  return parseRecord(await redis.get(`{s${shard}}:owner`)).owner?.split(':')[0];
}
