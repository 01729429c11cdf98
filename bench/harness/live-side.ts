import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as v from 'valibot';
import { type GuardedProcess, spawnGuarded } from '../../service/dev/guarded-process.ts';
import { startPrivateRedis } from '../../service/dev/private-redis.ts';
import { readReadyLine } from '../../service/dev/ready-line.ts';
import { type SimulatorControl, simulatorControl } from '../../tests/testbed/simulator-control.ts';
import { callAll } from '../load/http-calls.ts';
import type { BenchShop } from '../load/load-plan.ts';
import { type Build, OWN_BUILD, serviceProgram } from './build.ts';
import { onCore } from './cores.ts';
import { type Fleet, type FleetSize, makeFleet } from './fleet.ts';
import { type LiveNode, type LiveProgram, startLiveNode } from './live-node.ts';
import { type PairingPlan, pairAll } from './pairing.ts';
import { nodeSettings } from './program.ts';

/** A shop and the number of the phone that scans its code. */
export interface LiveShop extends BenchShop {
  readonly phone: string;
}

/**
 * The service with the real client in its workers, and the chat network that it connects to, each in a separate
 * process. Whatever names no node is about the first.
 */
export interface LiveSide {
  readonly network: SimulatorControl;
  readonly nodes: readonly LiveNode[];
  readonly adminToken: string;
  readonly apiPort: number;
  readonly adminPort: number;
  /** Process ids, by name; the service's is another one after a restart. */
  readonly watch: Readonly<Record<'server' | 'redis' | 'simulator', number>>;
  /** The ids that the system gave to the threads of the service's session workers. */
  workerThreads(): readonly number[];
  makeFleet(size: FleetSize): Promise<Fleet>;
  /** Pairs every shop, by default 8 at a time and silently. Resolves when all are connected. */
  connect(shops: readonly LiveShop[], plan?: Partial<PairingPlan>): Promise<void>;
  /** From now on the shops' tenants get events of inbound messages, with their texts. */
  publishInbound(shops: readonly LiveShop[]): Promise<void>;
  /** All values of `/metrics`, by name with labels. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** Resolves when this number of shops is connected, checking ten times a second. */
  untilConnected(count: number): Promise<void>;
  /**
   * Ends the service, by default as a crash would, and starts it again on the same store. Resolves with the time until
   * it took requests.
   */
  restart(program?: LiveProgram, signal?: 'SIGKILL' | 'SIGTERM'): Promise<number>;
  stop(): Promise<void>;
}

/** Shops whose codes are asked for and scanned at a time. */
const PAIRED_AT_ONCE = 8;

/** Starts Redis, the simulator and the nodes. `gapMs`: the gap between two sends of a shop. */
export async function startLiveSide(options: {
  readonly directory: string;
  readonly gapMs: string;
  /** By default one. */
  readonly nodes?: number;
  /** By default the service itself. */
  readonly program?: LiveProgram;
  /** Further settings of the service. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The build of the service, by default of this checkout. The simulator is always this one's. */
  readonly build?: Build;
}): Promise<LiveSide> {
  const { build = OWN_BUILD } = options;
  const directory = mkdtempSync(join(options.directory, 'live-'));
  const redis = await startPrivateRedis({ directory, appendfsync: 'everysec' });
  const simulator = await startSimulatorProcess(directory);
  const network = simulatorControl(simulator.url);
  const environment = {
    ...nodeSettings(redis.socketPath, directory),
    MSGAPP_SOCKET_URL: `${simulator.url.replace('http', 'ws')}/ws/chat`,
    MSGAPP_NOISE_ROOT_KEY: await network.rootKey(),
    SEND_GAP_MS: options.gapMs,
    LOG_LEVEL: 'warn',
    ...options.environment,
  };
  const program = options.program ?? ([serviceProgram(build)] as const);
  const nodes: LiveNode[] = [];
  for (let number = 1; number <= (options.nodes ?? 1); number += 1)
    nodes.push(await startLiveNode({ id: `bench-${number}`, build, directory, program, environment }));
  const [first] = nodes as [LiveNode];
  const side: LiveSide = {
    network,
    nodes,
    adminToken: environment.ADMIN_TOKEN,
    get apiPort() {
      return first.apiPort;
    },
    get adminPort() {
      return first.adminPort;
    },
    get watch() {
      return { server: first.pid, redis: redis.process.pid, simulator: simulator.process.pid };
    },
    workerThreads: () => first.workerThreads(),
    makeFleet: (size) =>
      makeFleet({
        admin: { port: side.adminPort, token: environment.ADMIN_TOKEN },
        api: { port: side.apiPort },
        size,
      }),
    async publishInbound(shops) {
      const tenantIds = [...new Set(shops.map(({ tenantId }) => tenantId))];
      const token = environment.ADMIN_TOKEN;
      const path = (tenantId: string): string => `/admin/v1/tenants/${tenantId}`;
      const body = { inbound: 'texts' };
      await callAll(
        side.adminPort,
        tenantIds.map((tenantId) => ({ method: 'PATCH', path: path(tenantId), token, body })),
      );
    },
    connect: (shops, plan) =>
      pairAll(side, shops, { atOnce: PAIRED_AT_ONCE, progress: () => undefined, ...plan }),
    metrics: () => first.metrics(),
    async untilConnected(count) {
      while (((await side.metrics()).get('msgapi_sessions{state="connected"}') ?? 0) < count)
        await delay(100);
    },
    async restart(program, signal = 'SIGKILL') {
      await first.end(signal);
      const startedMs = performance.now();
      await first.start(program);
      return performance.now() - startedMs;
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      for (const { process } of [simulator, redis]) {
        process.signal('SIGKILL');
        await process.ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return side;
}

/** Starts a simulator that keeps its journal in the directory. */
export async function startSimulatorProcess(
  directory: string,
): Promise<{ process: GuardedProcess; url: string }> {
  const child = spawnGuarded({
    name: 'simulator',
    ...onCore('rest', process.execPath, [join(OWN_BUILD.directory, 'service/dev/simulator.js')]),
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      SIMULATOR_PORT: '0',
      DATA_DIR: join(directory, 'simulator'),
    },
    output: 'read',
  });
  const schema = v.object({ ready: v.literal(true), simulator: v.string() });
  const { simulator } = await readReadyLine(child, { schema });
  return { process: child, url: simulator };
}
