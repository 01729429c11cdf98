import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import * as v from 'valibot';
import type { DevEnvironment } from '../environment.ts';
import { makeDataDirectory } from './data-directory.ts';
import { type DevState, devStateFile, ensureDemoAccount } from './demo-account.ts';
import { type FileLock, lockFile } from './file-lock.ts';
import type { GuardedProcess } from './guarded-process.ts';
import { refuseTakenPorts } from './port-check.ts';
import { startPrivateRedis } from './private-redis.ts';
import type { ProcessGroup } from './process-group.ts';
import { readReadyLine } from './ready-line.ts';

/** The addresses of all parts: the line of JSON that bin/dev prints (docs/contract.md, The commands). */
export interface Addresses {
  readonly ready: true;
  readonly api: string;
  readonly admin: string;
  readonly simulator: string | null;
  readonly apiKey: string;
  readonly adminToken: string;
}

/** Starts Redis, the simulator and the service, in this order, and makes the demo account. */
export async function bringUp(environment: DevEnvironment, group: ProcessGroup): Promise<Addresses> {
  const { dataDirectory } = environment;
  makeDataDirectory(dataDirectory);
  const lock = await claim(dataDirectory);
  await refuseTakenPorts([
    { variable: 'PORT', host: environment.host, port: environment.port },
    { variable: 'ADMIN_PORT', host: environment.adminHost, port: environment.adminPort },
    ...(environment.startsSimulator
      ? [{ variable: 'SIMULATOR_PORT', host: environment.simulatorHost, port: environment.simulatorPort }]
      : []),
  ]);
  const file = devStateFile(dataDirectory);
  const state = withSecrets(environment, file.read());
  file.write(state);
  const variables: Record<string, string | undefined> = {
    ...environment.variables,
    DATA_DIR: dataDirectory,
    NODE_ID: environment.variables.NODE_ID ?? nodeIdOf(dataDirectory),
    ADMIN_TOKEN: state.adminToken,
    CREDENTIALS_KEY: state.credentialsKey,
  };
  if (environment.startsRedis) variables.REDIS_URL = await startRedis(environment, group, lock);
  const startProgram = (name: keyof typeof PROGRAMS): GuardedProcess =>
    group.start({
      name,
      command: process.execPath,
      args: programArguments(PROGRAMS[name]),
      environment: variables,
      output: 'read',
      keepsOpen: lock.file,
    });
  let simulator: string | null = null;
  if (environment.startsSimulator) {
    const line = await readReadyLine(startProgram('simulator'), { schema: simulatorLine });
    simulator = line.simulator;
    variables.MSGAPP_SOCKET_URL = `${simulator.replace(/^http/, 'ws')}/ws/chat`;
    variables.MSGAPP_NOISE_ROOT_KEY = await readRootKey(simulator);
    variables.NODE_EXTRA_CA_CERTS = await keepMediaAuthority(simulator, dataDirectory);
  }
  const { api, admin } = await readReadyLine(startProgram('service'), { schema: serviceLine });
  const { apiKey } = await ensureDemoAccount({ apiUrl: api, adminUrl: admin, file, state });
  return { ready: true, api, admin, simulator, apiKey, adminToken: state.adminToken };
}

/** The programs that run on Node, by their paths from this folder. */
const PROGRAMS = { simulator: 'simulator', service: '../service' };

/** Returns Node's arguments for a program: from its source, or compiled like this file. */
function programArguments(path: string): string[] {
  const form = extname(import.meta.filename);
  const flags = form === '.ts' ? ['--import', import.meta.resolve('tsx')] : ['--enable-source-maps'];
  return [...flags, join(import.meta.dirname, `${path}${form}`)];
}

const simulatorLine = v.object({ ready: v.literal(true), simulator: v.string() });
const serviceLine = v.object({ ready: v.literal(true), api: v.string(), admin: v.string() });

/**
 * Locks the data directory for this run. The lock is free only once every process of the run before has ended,
 * so that two Redis never write the same files. The processes of this run keep the lock.
 */
async function claim(dataDirectory: string): Promise<FileLock> {
  const ownLock = await lockFile(join(dataDirectory, 'dev.lock'), { waitSeconds: 0 });
  if (ownLock === undefined)
    throw new Error(`Another bin/dev is running on ${dataDirectory}; set DATA_DIR to another folder.`);
  const sharedLock = await lockFile(join(dataDirectory, 'processes.lock'), { waitSeconds: 20 });
  if (sharedLock === undefined)
    throw new Error(`Processes of an earlier bin/dev are still running on ${dataDirectory}.`);
  return sharedLock;
}

/**
 * Returns the node id, which is the same at each start for any ports of the system. So a killed service is superseded
 * at once, without a wait for its lease.
 */
function nodeIdOf(dataDirectory: string): string {
  const mark = createHash('sha256').update(`${hostname()}:${dataDirectory}`).digest('hex');
  return `dev-${mark.slice(0, 16)}`;
}

/** Secrets given in the environment win; those made once are used again. */
function withSecrets(environment: DevEnvironment, keptState: DevState | undefined): DevState {
  const { adminToken = keptState?.adminToken ?? randomBytes(24).toString('base64url') } = environment;
  const { credentialsKey = keptState?.credentialsKey ?? randomBytes(32).toString('base64') } = environment;
  return { ...keptState, adminToken, credentialsKey };
}

/** The kernel takes no longer path for a socket than 107 bytes; a deep data directory has its socket elsewhere. */
const LONGEST_SOCKET_PATH = 107;

async function startRedis(environment: DevEnvironment, group: ProcessGroup, lock: FileLock): Promise<string> {
  const directory = join(environment.dataDirectory, 'redis');
  const { socketPath } = await startPrivateRedis({
    directory,
    socketPath: socketPathFor(directory),
    spawn: (options) => group.start({ ...options, keepsOpen: lock.file }),
  });
  return socketPath;
}

function socketPathFor(directory: string): string {
  const nearbyPath = join(directory, 'redis.sock');
  if (Buffer.byteLength(nearbyPath) <= LONGEST_SOCKET_PATH) return nearbyPath;
  const otherFolder = mkdtempSync(join(tmpdir(), 'redis-'));
  process.once('exit', () => rmSync(otherFolder, { recursive: true, force: true }));
  return join(otherFolder, 'redis.sock');
}

const rootKeyReply = v.object({ data: v.object({ noiseRootKey: v.string() }) });

async function readRootKey(simulator: string): Promise<string> {
  const reply = await fetch(`${simulator}/root-key`, { signal: AbortSignal.timeout(10_000) });
  return v.parse(rootKeyReply, await reply.json()).data.noiseRootKey;
}

const mediaAuthorityReply = v.object({ data: v.object({ ca: v.string() }) });

/** Keeps the certificate authority that the simulator's media host made itself; the service must trust it. */
async function keepMediaAuthority(simulator: string, dataDirectory: string): Promise<string> {
  const reply = await fetch(`${simulator}/media-ca`, { signal: AbortSignal.timeout(10_000) });
  const path = join(dataDirectory, 'media-ca.pem');
  writeFileSync(path, v.parse(mediaAuthorityReply, await reply.json()).data.ca);
  return path;
}
