import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { shardCount } from '../../runtime/address.ts';
import { spawnGuarded } from '../../service/dev/guarded-process.ts';
import { type PrivateRedis, startPrivateRedis } from '../../service/dev/private-redis.ts';
import { freePorts } from '../../tests/testbed/free-ports.ts';
import { until } from '../../tests/testbed/waiting.ts';
import { callAll } from '../load/http-calls.ts';
import { OWN_BUILD } from './build.ts';
import { onCore } from './cores.ts';
import { makeFleet } from './fleet.ts';
import {
  type FloorName,
  isFloor,
  isStoring,
  type RedisParts,
  type StoringName,
  startFloor,
  startStoring,
} from './lone-side.ts';
import { nodeSettings, type Program, portOf, startProgram } from './program.ts';
import type { HoldUps, Look, RunningSide, SideOptions } from './running-side.ts';

/** The sides that can be measured: this service, the baselines and the peers. */
export type SideName = 'service' | FloorName | StoringName;

/** Starts a side in fresh processes, with its own Redis if it needs one. */
export async function startSide(name: SideName, options: SideOptions): Promise<RunningSide> {
  if (isFloor(name)) return startFloor(name, options);
  const directory = mkdtempSync(join(options.directory, 'side-'));
  const servers = await startRedis(directory, options);
  const [redis] = servers;
  const stopRedis = async (): Promise<void> => {
    for (const { process } of servers) process.signal('SIGKILL');
    await Promise.all(servers.map(({ process }) => process.ended));
    // A process that Redis forked to rewrite its file may write for a moment after it was killed.
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const parts = { redis, directory, stopRedis };
    return await (isStoring(name)
      ? startStoring(name, options, parts)
      : startNodes(options, parts, servers[1]?.process.pid));
  } catch (error) {
    await stopRedis();
    throw error;
  }
}

/** Runs `measure` on a service with a new fleet and always stops it. */
export async function onService(
  options: SideOptions,
  measure: (side: RunningSide) => Promise<void>,
): Promise<void> {
  const side = await startSide('service', options);
  try {
    await measure(side);
  } finally {
    await side.stop();
  }
}

/** Starts Redis and, if the side is to have one, its replica, and waits until that follows. */
async function startRedis(
  directory: string,
  { appendfsync = 'always', isReplicated = false }: SideOptions,
): Promise<readonly [PrivateRedis, ...PrivateRedis[]]> {
  const start = (part: string, ...extraArgs: string[]): Promise<PrivateRedis> =>
    startPrivateRedis({
      directory: join(directory, part),
      appendfsync,
      extraArgs,
      spawn: (options) => spawnGuarded({ ...options, ...onCore('rest', options.command, options.args) }),
    });
  if (!isReplicated) return [await start('redis')];
  const [port] = await freePorts(1);
  const listening = ['--port', String(port), '--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0'];
  const master = await start('redis', ...listening);
  const replica = await start('replica', '--replicaof', '127.0.0.1', String(port));
  const client = new Redis(master.socketPath);
  try {
    await until('the replica follows', async () =>
      /^slave0:.*state=online/m.test(await client.info('replication')),
    );
  } finally {
    client.disconnect();
  }
  return [master, replica];
}

async function startNodes(
  options: SideOptions,
  parts: RedisParts,
  replica: number | undefined,
): Promise<RunningSide> {
  const { build = OWN_BUILD, nodes: count = 1, nodeFlags = [] } = options;
  const { redis, directory, stopRedis } = parts;
  const shared = {
    ...nodeSettings(redis.socketPath, directory),
    LOG_LEVEL: 'info',
  };
  const startNode = (index: number): Promise<Program> =>
    startProgram({
      name: `service ${index + 1}`,
      // Several nodes share the cores; one has a core to itself.
      core: count === 1 ? 'server' : undefined,
      build,
      args: [...nodeFlags, join(build.directory, 'bench/sides/memory-service.js')],
      environment: { ...shared, ...options.environment, NODE_ID: `bench-${index + 1}` },
      directory,
    });
  let programs: Program[] = [];
  /** Starts the nodes, one after the other. Resolves with the time of the first one from start to ready. */
  const startAll = async (): Promise<number> => {
    const startedMs = performance.now();
    programs = [await startNode(0)];
    const tookMs = performance.now() - startedMs;
    for (let index = 1; index < count; index += 1) programs.push(await startNode(index));
    await shardsSpread(programs, shared.ADMIN_TOKEN);
    return tookMs;
  };
  const startMs = await startAll();
  const admin = { port: portOf(programs[0]?.admin ?? ''), token: shared.ADMIN_TOKEN };
  const fleet = await makeFleet({
    admin,
    api: { port: portOf(programs[0]?.api ?? '') },
    size: options.fleet,
    ...(options.progress === undefined ? {} : { progress: options.progress }),
  });
  const stopNodes = async (): Promise<void> => {
    await Promise.all(programs.map(({ process }) => process.stop({ graceMs: 15_000 })));
  };
  return {
    get ports() {
      return programs.map(({ api }) => portOf(api));
    },
    get watch() {
      const servers = programs.map(({ process }, index) => [
        index === 0 ? 'server' : `server${index + 1}`,
        process.pid,
      ]);
      return {
        ...Object.fromEntries(servers),
        redis: redis.process.pid,
        ...(replica === undefined ? {} : { replica }),
      };
    },
    fleet,
    redisPath: redis.socketPath,
    get admin() {
      return { port: portOf(programs[0]?.admin ?? ''), token: shared.ADMIN_TOKEN };
    },
    startMs,
    async restart() {
      await stopNodes();
      return await startAll();
    },
    async look() {
      const response = await fetch(programs[0]?.look ?? '');
      return (await response.json()) as Look;
    },
    async holdUps() {
      const response = await fetch(`${programs[0]?.look ?? ''}/hold-ups`);
      return (await response.json()) as HoldUps;
    },
    async stop() {
      await stopNodes();
      await stopRedis();
    },
  };
}

const SPREAD_WITHIN_MS = 30_000;

/** Waits until every node has its share: while shards move, calls are refused, which would falsify the figures. */
async function shardsSpread(programs: readonly Program[], adminToken: string): Promise<void> {
  const share = Math.floor(shardCount() / programs.length);
  const look = { method: 'GET', path: '/admin/v1/nodes', token: adminToken };
  const untilMs = performance.now() + SPREAD_WITHIN_MS;
  for (const { admin = '' } of programs) {
    for (;;) {
      const [page] = (await callAll(portOf(admin), [look])) as [{ items: { shards: number }[] }];
      if (page.items.filter(({ shards }) => shards >= share).length === programs.length) break;
      if (performance.now() > untilMs)
        throw new Error(`the nodes have no even share: ${JSON.stringify(page)}`);
      await delay(100);
    }
  }
}
