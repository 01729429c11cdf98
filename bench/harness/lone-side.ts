import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateRedis } from '../../service/dev/private-redis.ts';
import { OWN_BUILD, PEERS_DIRECTORY } from './build.ts';
import { type Fleet, inventFleet } from './fleet.ts';
import { type Program, portOf, startProgram } from './program.ts';
import type { RunningSide, SideOptions } from './running-side.ts';

const ownSide = (file: string): string => join(OWN_BUILD.directory, 'bench/sides', file);
const FASTIFY = join(PEERS_DIRECTORY, 'fastify.js');

/** Sides of one process without a store, by name: the program and its arguments. */
const FLOORS = {
  'floor-bare': [ownSide('floor.js'), 'bare'],
  'floor-parsed': [ownSide('floor.js'), 'parsed'],
  'floor-by-hand': [ownSide('by-hand.js')],
} as const;

/** Sides of one process with a Redis; the socket of Redis and the path of the fleet follow their arguments. */
const STORING = {
  'send-by-hand': [ownSide('send-by-hand.js')],
  'fastify-redis': [FASTIFY, 'redis'],
  'fastify-memory': [FASTIFY, 'memory'],
} as const;

/** A side of one process without a store. */
export type FloorName = keyof typeof FLOORS;

/** A side of one process with its own Redis. */
export type StoringName = keyof typeof STORING;

/** True if a side has no store. */
export function isFloor(name: string): name is FloorName {
  return name in FLOORS;
}

/** True if a side of one process has a Redis. */
export function isStoring(name: string): name is StoringName {
  return name in STORING;
}

/** A Redis, the directory it is in, and how it ends. */
export interface RedisParts {
  readonly redis: PrivateRedis;
  readonly directory: string;
  readonly stopRedis: () => Promise<void>;
}

/** Starts a side that stores its messages, in a separate process. */
export async function startStoring(
  name: StoringName,
  options: SideOptions,
  { redis, directory, stopRedis }: RedisParts,
): Promise<RunningSide> {
  const fleet = inventFleet(options.fleet);
  const fleetPath = join(directory, 'fleet.json');
  writeFileSync(fleetPath, JSON.stringify(fleet));
  const args = [...STORING[name], redis.socketPath, fleetPath];
  const program = await startProgram({ name, core: 'server', args, environment: {}, directory });
  return alone(program, fleet, { redis, afterwards: stopRedis });
}

/** Starts a floor in a separate process. */
export async function startFloor(name: FloorName, options: SideOptions): Promise<RunningSide> {
  const { directory } = options;
  const args = [...FLOORS[name]];
  const program = await startProgram({ name, core: 'server', args, environment: {}, directory });
  return alone(program, inventFleet(options.fleet), {});
}

/** Makes a side of one server that is not started twice. */
function alone(
  program: Program,
  fleet: Fleet,
  { redis, afterwards }: { readonly redis?: PrivateRedis; readonly afterwards?: () => Promise<void> },
): RunningSide {
  return {
    ports: [portOf(program.api)],
    watch: { server: program.process.pid, ...(redis === undefined ? {} : { redis: redis.process.pid }) },
    fleet,
    redisPath: redis?.socketPath,
    admin: undefined,
    startMs: Number.NaN,
    restart: () => Promise.reject(new Error('only the service is started again')),
    look: () => Promise.reject(new Error('only the service is looked into')),
    holdUps: () => Promise.reject(new Error('only the service is looked into')),
    async stop() {
      program.process.signal('SIGKILL');
      await program.process.ended;
      await afterwards?.();
    },
  };
}
