import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { isLoopbackUrl } from '../actors/outbound/loopback-url.ts';
import { LEAST_SHARDS, MOST_SHARDS } from '../runtime/address.ts';
import { parseRedisAddress } from '../runtime/redis-address.ts';
import { defaultNodeId } from './default-node-id.ts';
import { operatorsSchema, operatorTokens, requiredOperatorsSchema } from './operator-settings.ts';
import { readSecretFiles } from './secret-files.ts';
import {
  addressRanges,
  clientVersion,
  count,
  credentialsKeys,
  gap,
  host,
  lineOfText,
  logLevel,
  nameServers,
  nodeId,
  noiseRootKey,
  port,
  publicUrl,
  redisUrl,
  setupUrlTemplate,
  traceSampler,
  traceShare,
  webSocketUrl,
  wholeNumber,
} from './setting-readers.ts';

/** The variables of a process: names and texts. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The environment cannot be used. The message lists every problem at once, without the value of a secret. */
export class EnvironmentError extends Error {
  readonly code = 'BAD_ENVIRONMENT';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The environment cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/**
 * Variables whose values no error repeats and that may be given as a file, `NAME_FILE`. REDIS_URL may hold a
 * password.
 */
export const SECRET_NAMES: ReadonlySet<string> = new Set([
  'ADMIN_TOKEN',
  'ADMIN_TOKENS',
  'METRICS_TOKEN',
  'CREDENTIALS_KEY',
  'REDIS_URL',
]);

/** A shorter gap is for simulations only (docs/contract.md, The commands). A real network would ban the number. */
const SHORTEST_GAP_MS = 6_000;

const chatNetworkSchema = v.pipe(
  v.object({
    MSGAPP_SOCKET_URL: v.optional(webSocketUrl),
    MSGAPP_NOISE_ROOT_KEY: v.optional(noiseRootKey),
    SEND_GAP_MS: gap,
  }),
  v.forward(
    v.partialCheck(
      [['MSGAPP_SOCKET_URL'], ['SEND_GAP_MS']],
      ({ MSGAPP_SOCKET_URL: url, SEND_GAP_MS: { minMs } }) => minMs >= SHORTEST_GAP_MS || isLoopbackUrl(url),
      `at least ${SHORTEST_GAP_MS} ms between sends, unless MSGAPP_SOCKET_URL leads to this machine`,
    ),
    ['SEND_GAP_MS'],
  ),
  v.forward(
    v.partialCheck(
      [['MSGAPP_SOCKET_URL'], ['MSGAPP_NOISE_ROOT_KEY']],
      ({ MSGAPP_SOCKET_URL: url, MSGAPP_NOISE_ROOT_KEY: key }) => key === undefined || isLoopbackUrl(url),
      "no root key of one's own, unless MSGAPP_SOCKET_URL leads to this machine",
    ),
    ['MSGAPP_NOISE_ROOT_KEY'],
  ),
);
const simulatorEntries = {
  SIMULATOR_HOST: host,
  SIMULATOR_PORT: port('3002'),
  DATA_DIR: v.optional(v.string(), '.data'),
};

const simulatorSchema = v.object({
  LOG_LEVEL: logLevel,
  ...simulatorEntries,
  SIMULATOR_MEDIA_PORT: port('0'),
});

const listenersSchema = v.pipe(
  v.object({ HOST: host, PORT: port('3000'), ADMIN_HOST: host, ADMIN_PORT: port('3001') }),
  v.forward(
    v.partialCheck(
      [['HOST'], ['PORT'], ['ADMIN_HOST'], ['ADMIN_PORT']],
      ({ HOST, PORT, ADMIN_HOST, ADMIN_PORT }) =>
        PORT === 0 || PORT !== ADMIN_PORT || !shareAddress(HOST, ADMIN_HOST),
      'another port than PORT (3001 when none is given)',
    ),
    ['ADMIN_PORT'],
  ),
);

/** Settings of the service that may be left out. */
const serviceEntries = {
  LOG_LEVEL: logLevel,
  SEND_DURABILITY: v.optional(v.picklist(['master', 'replica'], 'master or replica'), 'master'),
  PUBLIC_URL: v.optional(publicUrl),
  SETUP_URL_TEMPLATE: setupUrlTemplate,
  PLATFORM_NAME: v.optional(lineOfText, 'Tenant Messaging'),
  TRUSTED_PROXIES: v.optional(addressRanges),
  MEDIA_DENIED_RANGES: v.optional(addressRanges),
  MEDIA_NAME_SERVERS: v.optional(nameServers),
  NODE_ID: v.optional(nodeId),
  MSGAPP_CLIENT_VERSION: v.optional(clientVersion),
  SHARDS: v.optional(wholeNumber({ least: LEAST_SHARDS, most: MOST_SHARDS })),
  SESSION_WORKERS: v.optional(wholeNumber({ most: 64 })),
  // A message may wait for a day, and its outcome must find its record.
  MESSAGE_RETENTION_DAYS: count('30', { least: 2, most: 3_650 }),
  SHUTDOWN_DELAY_MS: count('0', { least: 0, most: 600_000 }),
  REVISION: v.optional(lineOfText, 'unknown'),
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(publicUrl),
  OTEL_SERVICE_NAME: v.optional(lineOfText, 'tenant-messaging-api'),
  OTEL_TRACES_SAMPLER: traceSampler,
  OTEL_TRACES_SAMPLER_ARG: traceShare,
  EVENT_RETENTION_DAYS: count('7', { most: 3_650 }),
  EVENT_MAX_ENTRIES: count('50000', { most: 10_000_000 }),
  REQUEST_LOG_RETENTION_DAYS: count('7', { most: 3_650 }),
  REQUEST_LOG_MAX_ENTRIES: count('100000', { most: 100_000_000 }),
  REQUEST_LOG_MAX_BYTES: count('268435456', { most: 1_000_000_000_000 }),
};

/** All settings of the service. They are checked before anything is started. */
const serviceSchema = v.intersect([
  chatNetworkSchema,
  listenersSchema,
  requiredOperatorsSchema,
  v.pipe(
    v.object({
      ...serviceEntries,
      REDIS_URL: requiredSetting(redisUrl),
      CREDENTIALS_KEY: requiredSetting(credentialsKeys),
    }),
    v.forward(
      v.partialCheck(
        [['REDIS_URL'], ['SEND_DURABILITY']],
        ({ REDIS_URL: url, SEND_DURABILITY: durability }) =>
          durability === 'master' || parseRedisAddress(url).kind === 'single',
        'master, since REDIS_URL is a cluster: a node cannot ask a replica of a shard to confirm',
      ),
      ['SEND_DURABILITY'],
    ),
  ),
]);

/** The settings of `bin/dev`: those of the service, most with a default there, and the simulator's. */
const devSchema = v.intersect([
  chatNetworkSchema,
  listenersSchema,
  operatorsSchema,
  v.object({
    ...serviceEntries,
    ...simulatorEntries,
    REDIS_URL: v.optional(redisUrl),
    CREDENTIALS_KEY: v.optional(credentialsKeys),
  }),
]);

/** The settings of the service as the program uses them. Durations and bounds have their unit in their name. */
export type ServiceEnvironment = ReturnType<typeof serviceEnvironment>;

/** Reads what `service/service.ts` needs. Throws `EnvironmentError`. */
export function serviceEnvironment(variables: Variables = process.env) {
  const values = readVariables(serviceSchema, variables);
  return {
    host: values.HOST,
    port: values.PORT,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    operatorTokens: operatorTokens(values),
    redisUrl: values.REDIS_URL,
    /** The servers that must have a commit before its effects and its reply happen. */
    durability: values.SEND_DURABILITY,
    /** The first seals; all of them open. */
    credentialsKeys: values.CREDENTIALS_KEY,
    /** If `undefined`, the listener's address. */
    publicUrl: values.PUBLIC_URL,
    /** `{PUBLIC_URL}` and `{shopId}` are still to be filled in. */
    setupUrlTemplate: values.SETUP_URL_TEMPLATE,
    platformName: values.PLATFORM_NAME,
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    media: {
      deniedRanges: values.MEDIA_DENIED_RANGES ?? [],
      /** If empty, the system's. */
      nameServers: values.MEDIA_NAME_SERVERS ?? [],
    },
    /** The default node id differs by port, or by process id if the system picks the port. */
    nodeId: values.NODE_ID ?? defaultNodeId(hostname(), values.PORT === 0 ? process.pid : values.PORT),
    /** `undefined`: the real network. */
    chatNetworkUrl: values.MSGAPP_SOCKET_URL,
    noiseRootKey: values.MSGAPP_NOISE_ROOT_KEY,
    /** `undefined`: the client's own. */
    clientVersion: values.MSGAPP_CLIENT_VERSION,
    /** `undefined`: as many as the data has, or 128. */
    shards: values.SHARDS,
    sendGap: values.SEND_GAP_MS,
    sessionWorkers: values.SESSION_WORKERS ?? defaultSessionWorkers(availableParallelism()),
    logLevel: values.LOG_LEVEL,
    /** The time from a signal to the hand-over; `/readyz` returns 503 meanwhile. */
    shutdownDelayMs: values.SHUTDOWN_DELAY_MS,
    /** The commit that the program was built from, for `/metrics`. */
    revision: values.REVISION,
    /** The address that spans are sent to; `undefined`: nothing is traced. */
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    tracesServiceName: values.OTEL_SERVICE_NAME,
    /** The share of traces to keep, from 0 to 1. */
    tracesKeptShare: keptShare(values),
    messageRetentionDays: values.MESSAGE_RETENTION_DAYS,
    eventRetentionDays: values.EVENT_RETENTION_DAYS,
    /** Most events of one tenant. */
    eventMaxEntries: values.EVENT_MAX_ENTRIES,
    requestLogRetentionDays: values.REQUEST_LOG_RETENTION_DAYS,
    requestLogMaxEntries: values.REQUEST_LOG_MAX_ENTRIES,
    /** Over all tenants. */
    requestLogMaxBytes: values.REQUEST_LOG_MAX_BYTES,
  } as const;
}

/** Returns the share of traces that a sampler of OpenTelemetry keeps. */
function keptShare(values: {
  readonly OTEL_TRACES_SAMPLER: v.InferOutput<typeof traceSampler>;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}): number {
  const sampler = values.OTEL_TRACES_SAMPLER;
  if (sampler.endsWith('ratio')) return values.OTEL_TRACES_SAMPLER_ARG;
  return sampler.endsWith('_on') ? 1 : 0;
}

/** The settings of `bin/dev`. */
export type DevEnvironment = ReturnType<typeof devEnvironment>;

/** Reads what `service/dev/dev.ts` needs. Throws `EnvironmentError`. */
export function devEnvironment(variables: Variables = process.env) {
  const { variables: givenVariables } = readSecretFiles(nonEmpty(variables), SECRET_NAMES);
  const startsSimulator = givenVariables.MSGAPP_SOCKET_URL === undefined;
  // The simulator it starts is on this machine, so the rules for one hold.
  const values = readVariables(
    devSchema,
    startsSimulator ? { ...variables, MSGAPP_SOCKET_URL: 'ws://127.0.0.1' } : variables,
  );
  return {
    host: values.HOST,
    port: values.PORT,
    adminHost: values.ADMIN_HOST,
    adminPort: values.ADMIN_PORT,
    simulatorHost: values.SIMULATOR_HOST,
    simulatorPort: values.SIMULATOR_PORT,
    dataDirectory: resolve(values.DATA_DIR),
    startsRedis: givenVariables.REDIS_URL === undefined,
    startsSimulator,
    /** If given, they win over those kept in `dev.json`. */
    adminToken: givenVariables.ADMIN_TOKEN,
    credentialsKey: givenVariables.CREDENTIALS_KEY,
    /** For the processes it starts: secrets that came from files stand in them by value. */
    variables: givenVariables,
  } as const;
}

/** Reads what `service/dev/simulator.ts` needs. Throws `EnvironmentError`. */
export function simulatorEnvironment(variables: Variables = process.env) {
  const values = readVariables(simulatorSchema, variables);
  return {
    host: values.SIMULATOR_HOST,
    port: values.SIMULATOR_PORT,
    mediaPort: values.SIMULATOR_MEDIA_PORT,
    dataDirectory: resolve(values.DATA_DIR),
    logLevel: values.LOG_LEVEL,
  } as const;
}

/** Threads for sessions: a core is the main thread's, and each further worker costs some 60 MiB. */
export function defaultSessionWorkers(cores: number): number {
  return Math.max(1, Math.min(4, cores - 1));
}

/** True if two listeners on these addresses would conflict. */
function shareAddress(left: string, right: string): boolean {
  return left === right || [left, right].some((address) => address === '0.0.0.0' || address === '::');
}

/** Reads a missing variable as an empty one, so that the problem names the expected value. */
function requiredSetting<const Schema extends v.GenericSchema<string, unknown>>(schema: Schema) {
  return v.optional(schema, '');
}

/** Parses all variables of a schema. Throws one `EnvironmentError` that lists every problem. */
export function readVariables<const Schema extends v.GenericSchema<unknown, unknown>>(
  schema: Schema,
  variables: Variables = process.env,
): v.InferOutput<Schema> {
  const {
    variables: givenVariables,
    unreadNames,
    problems,
  } = readSecretFiles(nonEmpty(variables), SECRET_NAMES);
  const result = v.safeParse(schema, givenVariables);
  if (result.success && problems.length === 0) return result.output;
  const problemsOfSchema = (result.issues ?? []).flatMap((issue) => {
    const name = v.getDotPath(issue) ?? '';
    if (unreadNames.has(name)) return [];
    return [`${name}: expected ${issue.message}; found ${describeFound(name, givenVariables[name])}`];
  });
  throw new EnvironmentError([...new Set([...problems, ...problemsOfSchema])]);
}

/** Drops empty variables: in compose files and shells `NAME=` means "not set". */
function nonEmpty(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

function describeFound(name: string, value: string | undefined): string {
  if (value === undefined) return 'nothing';
  return SECRET_NAMES.has(name) ? 'something else' : JSON.stringify(value);
}
