import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnGuarded } from '../../bin/guarded-process.ts';
import { type PrivateRedis, startPrivateRedis } from '../../bin/private-redis.ts';
import { SHARD_COUNT } from '../../runtime/address.ts';
import { callAll } from '../load/http-calls.ts';
import { BUILD_DIRECTORY, PEERS_DIRECTORY } from './build.ts';
import { onCore } from './cores.ts';
import { type Fleet, type FleetSize, inventFleet, makeFleet } from './fleet.ts';
import { nodeSettings, type Program, portOf, startProgram } from './program.ts';

/** How Redis keeps what it is told: `always` answers a write after it is on disk. */
export type Durability = 'always' | 'everysec';

/** A side that runs: where it listens, which processes it is made of, and whose requests it takes. */
export interface RunningSide {
  readonly ports: readonly number[];
  /** By name; `server` (several are `server`, `server2` …) and, where there is one, `redis`. */
  readonly watch: Readonly<Record<string, number>>;
  readonly fleet: Fleet;
  /** Where operators ask the service's first node; the peers have no operators. */
  readonly admin: OperatorAccess | undefined;
  /** From the start of the first node until it took requests. */
  readonly startMs: number;
  /** Ends the nodes, keeps Redis, and starts them again. Their time from start to ready. */
  restart(): Promise<number>;
  /** What the service's first node says of itself. */
  look(): Promise<Look>;
  /** How long the event loop of the service's first node was held up since this was last asked; the first time begins it. */
  holdUps(): Promise<HoldUps>;
  stop(): Promise<void>;
}

/** Internal figures of a node of the service. */
export interface Look {
  /** JavaScript heap in use; what is left after a collection when the node has `--expose-gc`. */
  readonly heapBytes: number;
  /** When sessions came up since its start, by the wall clock. */
  readonly connectedAtMs: readonly number[];
}

/** The operator's token. */
export interface OperatorAccess {
  readonly port: number;
  readonly token: string;
}

/** How long an event loop was held up in one piece, and by what part of that was garbage collection. */
export interface HoldUps {
  readonly p99Ms: number;
  readonly longestMs: number;
  readonly collections: number;
  readonly collectingMs: number;
  readonly longestCollectionMs: number;
}

/** A side and the fleet it is to carry. */
export interface SideOptions {
  readonly fleet: FleetSize;
  readonly durability?: Durability;
  /** Nodes of the service; default 1. */
  readonly nodes?: number;
  /** Flags for the server's node, such as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
  /** Settings of the service beside its own. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Tells how far the set-up is. */
  readonly progress?: (text: string) => void;
  readonly directory: string;
}

/** What can be measured: this service, the floors below it and the peers beside it. */
export type SideName = 'service' | FloorName | 'fastify-redis' | 'fastify-memory';

type FloorName = keyof typeof FLOORS;

const FLOORS = {
  'floor-bare': ['floor.js', 'bare'],
  'floor-parsed': ['floor.js', 'parsed'],
  'floor-by-hand': ['by-hand.js'],
} as const;

/** Starts a side in fresh processes, with a Redis of its own where it needs one. */
export async function startSide(name: SideName, options: SideOptions): Promise<RunningSide> {
  if (isFloor(name)) return startFloor(name, options);
  const directory = mkdtempSync(join(options.directory, 'side-'));
  const redis = await startRedis(directory, options.durability ?? 'always');
  const stopRedis = async (): Promise<void> => {
    redis.process.signal('SIGKILL');
    await redis.process.ended;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const parts = { redis, directory, stopRedis };
    return await (name === 'service' ? startNodes(options, parts) : startPeer(name, options, parts));
  } catch (error) {
    await stopRedis();
    throw error;
  }
}

interface RedisParts {
  readonly redis: PrivateRedis;
  readonly directory: string;
  readonly stopRedis: () => Promise<void>;
}

function startRedis(directory: string, appendfsync: Durability): Promise<PrivateRedis> {
  return startPrivateRedis({
    directory,
    appendfsync,
    spawn: (options) => spawnGuarded({ ...options, ...onCore('rest', options.command, options.args) }),
  });
}

async function startNodes(options: SideOptions, parts: RedisParts): Promise<RunningSide> {
  const { nodes: count = 1, nodeFlags = [] } = options;
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
      args: [...nodeFlags, join(BUILD_DIRECTORY, 'bench/sides/memory-service.js')],
      environment: { ...shared, ...options.environment, NODE_ID: `bench-${index + 1}` },
      directory,
    });
  const startedMs = performance.now();
  let programs = [await startNode(0)];
  const startMs = performance.now() - startedMs;
  for (let index = 1; index < count; index += 1) programs.push(await startNode(index));
  await shardsSpread(programs, shared.ADMIN_TOKEN);
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
      return { ...Object.fromEntries(servers), redis: redis.process.pid };
    },
    fleet,
    get admin() {
      return { port: portOf(programs[0]?.admin ?? ''), token: shared.ADMIN_TOKEN };
    },
    startMs,
    async restart() {
      await stopNodes();
      const restartedMs = performance.now();
      programs = [await startNode(0)];
      const tookMs = performance.now() - restartedMs;
      for (let index = 1; index < count; index += 1) programs.push(await startNode(index));
      await shardsSpread(programs, shared.ADMIN_TOKEN);
      return tookMs;
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

/** Waits until every node has its share: while shards change hands calls are refused, which is not what is measured. */
async function shardsSpread(programs: readonly Program[], adminToken: string): Promise<void> {
  const share = Math.floor(SHARD_COUNT / programs.length);
  const look = { method: 'GET', path: '/admin/v1/nodes', token: adminToken };
  const untilMs = performance.now() + SPREAD_WITHIN_MS;
  for (const { admin = '' } of programs) {
    for (;;) {
      const [page] = (await callAll(portOf(admin), [look])) as [{ items: { shards: number }[] }];
      if (page.items.filter(({ shards }) => shards >= share).length === programs.length) break;
      if (performance.now() > untilMs)
        throw new Error(`the nodes have no even share: ${JSON.stringify(page)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function startPeer(
  name: 'fastify-redis' | 'fastify-memory',
  options: SideOptions,
  { redis, directory, stopRedis }: RedisParts,
): Promise<RunningSide> {
  const fleet = inventFleet(options.fleet);
  const fleetPath = join(directory, 'fleet.json');
  writeFileSync(fleetPath, JSON.stringify(fleet));
  const limits = name === 'fastify-redis' ? 'redis' : 'memory';
  const args = [join(PEERS_DIRECTORY, 'fastify.js'), limits, redis.socketPath, fleetPath];
  const program = await startProgram({ name, core: 'server', args, environment: {}, directory });
  return alone(program, fleet, { redis: redis.process.pid }, stopRedis);
}

function isFloor(name: SideName): name is FloorName {
  return name in FLOORS;
}

async function startFloor(name: FloorName, options: SideOptions): Promise<RunningSide> {
  const { directory } = options;
  const [file, ...rest] = FLOORS[name];
  const args = [join(BUILD_DIRECTORY, 'bench/sides', file), ...rest];
  const program = await startProgram({ name, core: 'server', args, environment: {}, directory });
  return alone(program, inventFleet(options.fleet), {}, () => Promise.resolve());
}

/** A side of one server that is not started twice. */
function alone(
  program: Program,
  fleet: Fleet,
  others: Readonly<Record<string, number>>,
  afterwards: () => Promise<void>,
): RunningSide {
  return {
    ports: [portOf(program.api)],
    watch: { server: program.process.pid, ...others },
    fleet,
    admin: undefined,
    startMs: Number.NaN,
    restart: () => Promise.reject(new Error('only the service is started again')),
    look: () => Promise.reject(new Error('only the service is looked into')),
    holdUps: () => Promise.reject(new Error('only the service is looked into')),
    async stop() {
      program.process.signal('SIGKILL');
      await program.process.ended;
      await afterwards();
    },
  };
}
