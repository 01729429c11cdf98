import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { test } from 'node:test';
import {
  defaultSessionWorkers,
  devEnvironment,
  serviceEnvironment,
  simulatorEnvironment,
  type Variables,
} from '../../service/environment.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { key, least, names, refused } from './refused-environment.ts';

const otherKey = Buffer.alloc(32, 8).toString('base64');
const simulated = { MSGAPP_SOCKET_URL: 'ws://127.0.0.1:3002/ws/chat' };

test('the smallest set of settings of a service gets defaults for the rest', () => {
  const { nodeId, ...environment } = serviceEnvironment(least);
  assert.match(nodeId, /-3000$/);
  assert.deepEqual(environment, {
    host: '127.0.0.1',
    port: 3000,
    adminHost: '127.0.0.1',
    adminPort: 3001,
    operatorTokens: [{ name: 'admin', role: 'admin', token: 'operators-only' }],
    redisUrl: 'redis://127.0.0.1:6379',
    durability: 'master',
    credentialsKeys: [Buffer.alloc(32, 7)],
    // The listener's own address, which is known once it listens.
    publicUrl: undefined,
    setupUrlTemplate: '{PUBLIC_URL}/shops/{shopId}/edit',
    platformName: 'Tenant Messaging',
    trustedProxies: [],
    media: { deniedRanges: [], nameServers: [] },
    chatNetworkUrl: undefined,
    noiseRootKey: undefined,
    clientVersion: undefined,
    sendGap: { minMs: 6000, maxMs: 20_000 },
    shards: undefined,
    sessionWorkers: defaultSessionWorkers(availableParallelism()),
    logLevel: 'info',
    shutdownDelayMs: 0,
    revision: 'unknown',
    tracesEndpoint: undefined,
    tracesServiceName: 'tenant-messaging-api',
    tracesKeptShare: 1,
    messageRetentionDays: 30,
    eventRetentionDays: 7,
    eventMaxEntries: 50_000,
    requestLogRetentionDays: 7,
    requestLogMaxEntries: 100_000,
    requestLogMaxBytes: 268_435_456,
  });
});

test('two listeners on one address and port are refused before either listens', () => {
  const { problems } = refused({ ...least, PORT: '3001' });
  assert.deepEqual(problems, [
    'ADMIN_PORT: expected another port than PORT (3001 when none is given); found nothing',
  ]);
  const same = { ...least, PORT: '3000', ADMIN_PORT: '3000' };
  assert.deepEqual(names(refused({ ...same, ADMIN_HOST: 'localhost', HOST: '0.0.0.0' })), ['ADMIN_PORT']);
  assert.deepEqual(names(refused(same, devEnvironment)), ['ADMIN_PORT']);
  assert.equal(serviceEnvironment({ ...same, ADMIN_HOST: '127.0.0.2' }).adminPort, 3000);
  assert.equal(serviceEnvironment({ ...least, PORT: '0', ADMIN_PORT: '0' }).port, 0);
});

test('every setting of a service is read', () => {
  const environment = serviceEnvironment({
    ...least,
    ...simulated,
    HOST: '::',
    PORT: '0',
    ADMIN_HOST: '10.0.0.1',
    ADMIN_PORT: '65535',
    ADMIN_TOKEN: 'a'.repeat(16),
    ADMIN_TOKENS: `ada:admin:${'b'.repeat(16)}, ben@example.com:read:with:colons:inside`,
    METRICS_TOKEN: 'c'.repeat(16),
    REDIS_URL: 'redis://a:1,redis://b:2',
    SEND_DURABILITY: 'master',
    CREDENTIALS_KEY: `${otherKey}, ${key}`,
    PUBLIC_URL: 'https://api.example.com/',
    SETUP_URL_TEMPLATE: '{PUBLIC_URL}/s?id={shopId}',
    PLATFORM_NAME: 'Postbox',
    TRUSTED_PROXIES: '10.0.0.0/8, ::1, fd00::/8',
    NODE_ID: 'node-1',
    MSGAPP_NOISE_ROOT_KEY: Buffer.alloc(32, 9).toString('hex'),
    MSGAPP_CLIENT_VERSION: '2.3000.1035194821',
    SEND_GAP_MS: '0-5',
    SESSION_WORKERS: '3',
    SHARDS: '1024',
    LOG_LEVEL: 'silent',
    SHUTDOWN_DELAY_MS: '5000',
    REVISION: '8d580bb',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_SERVICE_NAME: 'messaging',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    MESSAGE_RETENTION_DAYS: '2',
    EVENT_RETENTION_DAYS: '3',
    EVENT_MAX_ENTRIES: '5',
    REQUEST_LOG_RETENTION_DAYS: '2',
    REQUEST_LOG_MAX_ENTRIES: '3',
    REQUEST_LOG_MAX_BYTES: '4',
  });
  assert.deepEqual(environment, {
    host: '::',
    port: 0,
    adminHost: '10.0.0.1',
    adminPort: 65_535,
    operatorTokens: [
      { name: 'admin', role: 'admin', token: 'a'.repeat(16) },
      { name: 'ada', role: 'admin', token: 'b'.repeat(16) },
      { name: 'ben@example.com', role: 'read', token: 'with:colons:inside' },
      { name: 'metrics', role: 'metrics', token: 'c'.repeat(16) },
    ],
    redisUrl: 'redis://a:1,redis://b:2',
    durability: 'master',
    credentialsKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)],
    publicUrl: 'https://api.example.com',
    setupUrlTemplate: '{PUBLIC_URL}/s?id={shopId}',
    platformName: 'Postbox',
    trustedProxies: ['10.0.0.0/8', '::1', 'fd00::/8'],
    media: { deniedRanges: [], nameServers: [] },
    nodeId: 'node-1',
    chatNetworkUrl: 'ws://127.0.0.1:3002/ws/chat',
    noiseRootKey: Buffer.alloc(32, 9),
    clientVersion: [2, 3000, 1_035_194_821],
    sendGap: { minMs: 0, maxMs: 5 },
    shards: 1_024,
    sessionWorkers: 3,
    logLevel: 'silent',
    shutdownDelayMs: 5_000,
    revision: '8d580bb',
    tracesEndpoint: 'http://collector:4318',
    tracesServiceName: 'messaging',
    tracesKeptShare: 0.25,
    messageRetentionDays: 2,
    eventRetentionDays: 3,
    eventMaxEntries: 5,
    requestLogRetentionDays: 2,
    requestLogMaxEntries: 3,
    requestLogMaxBytes: 4,
  });
});

const accepted: readonly Variables[] = [
  { ADMIN_TOKEN: undefined, ADMIN_TOKENS: 'ada:admin:sixteen-or-more-1' },
  { ADMIN_HOST: '::1' },
  { ADMIN_HOST: 'localhost' },
  { REDIS_URL: '/run/redis.sock' },
  { REDIS_URL: 'unix:///run/redis.sock' },
  { REDIS_URL: 'rediss://user:pass@redis.example.com/3' },
  { MSGAPP_SOCKET_URL: 'wss://web.example.com/ws/chat', SEND_GAP_MS: '6000-6000' },
  { ...simulated, SEND_GAP_MS: '10-20' },
  { MSGAPP_SOCKET_URL: 'ws://localhost:1', SEND_GAP_MS: '10-20' },
  { MSGAPP_SOCKET_URL: 'ws://[::1]:1', SEND_GAP_MS: '10-20' },
  { ...simulated, MSGAPP_NOISE_ROOT_KEY: key },
  { PORT: '', LOG_LEVEL: '' },
];

for (const variables of accepted) {
  test(`a service starts with ${JSON.stringify(variables)}`, () => {
    assert.ok(serviceEnvironment({ ...least, ...variables }));
  });
}

const LONG = 'sixteen-or-more-1';

const refusals: readonly {
  readonly name: string;
  readonly variables: Variables;
  readonly expected: RegExp;
}[] = [
  { name: 'ADMIN_TOKEN', variables: { ADMIN_TOKEN: undefined }, expected: /8 printable .* found nothing/ },
  { name: 'ADMIN_TOKEN', variables: { ADMIN_TOKEN: '' }, expected: /8 printable .* found nothing/ },
  { name: 'ADMIN_TOKEN', variables: { ADMIN_TOKEN: 'short' }, expected: /8 printable/ },
  { name: 'ADMIN_TOKEN', variables: { ADMIN_TOKEN: 'with a space' }, expected: /8 printable/ },
  ...['0.0.0.0', '::', '10.0.0.1', 'node-1'].map((ADMIN_HOST) => ({
    name: 'ADMIN_TOKEN',
    variables: { ADMIN_HOST },
    expected: /at least 16 characters, unless ADMIN_HOST is .* something else/,
  })),
  { name: 'ADMIN_TOKENS', variables: { ADMIN_TOKENS: 'ada:admin:short' }, expected: /name:role:token/ },
  { name: 'ADMIN_TOKENS', variables: { ADMIN_TOKENS: `ada:root:${LONG}` }, expected: /read, operate, admin/ },
  { name: 'ADMIN_TOKENS', variables: { ADMIN_TOKENS: `ada:metrics:${LONG}` }, expected: /read, operate/ },
  { name: 'ADMIN_TOKENS', variables: { ADMIN_TOKENS: `ada:read:${LONG},` }, expected: /name:role:token/ },
  {
    name: 'ADMIN_TOKENS',
    variables: { ADMIN_TOKENS: `ada:read:${LONG},ada:admin:${LONG}1` },
    expected: /a name and a token of its own/,
  },
  {
    name: 'ADMIN_TOKENS',
    variables: { ADMIN_TOKENS: `ada:read:${LONG},ben:admin:${LONG}` },
    expected: /a name and a token of its own/,
  },
  {
    name: 'ADMIN_TOKENS',
    variables: { ADMIN_TOKENS: `ada:read:${LONG}`, METRICS_TOKEN: LONG },
    expected: /a name and a token of its own/,
  },
  { name: 'ADMIN_TOKENS', variables: { ADMIN_TOKENS: `admin:read:${LONG}` }, expected: /the name admin/ },
  {
    name: 'ADMIN_TOKEN',
    variables: { ADMIN_TOKEN: undefined, ADMIN_TOKENS: `ada:operate:${LONG}` },
    expected: /or an admin among ADMIN_TOKENS; found nothing/,
  },
  { name: 'METRICS_TOKEN', variables: { METRICS_TOKEN: 'c'.repeat(15) }, expected: /16 printable/ },
  { name: 'REDIS_URL', variables: { REDIS_URL: undefined }, expected: /redis:\/\// },
  { name: 'REDIS_URL', variables: { REDIS_URL: 'http://h:1' }, expected: /redis:\/\// },
  { name: 'REDIS_URL', variables: { REDIS_URL: 'redis://%zz:%zz@h' }, expected: /redis:\/\// },
  { name: 'CREDENTIALS_KEY', variables: { CREDENTIALS_KEY: undefined }, expected: /32 bytes in base64/ },
  { name: 'CREDENTIALS_KEY', variables: { CREDENTIALS_KEY: 'c2hvcnQ=' }, expected: /32 bytes in base64/ },
  { name: 'CREDENTIALS_KEY', variables: { CREDENTIALS_KEY: `${key},` }, expected: /32 bytes in base64/ },
  { name: 'HOST', variables: { HOST: 'http://a' }, expected: /host name or an IP address/ },
  { name: 'PORT', variables: { PORT: '65536' }, expected: /0 to 65535.*found "65536"/ },
  { name: 'PORT', variables: { PORT: '3e3' }, expected: /0 to 65535/ },
  { name: 'ADMIN_HOST', variables: { ADMIN_HOST: 'a b' }, expected: /host name or an IP address/ },
  { name: 'ADMIN_PORT', variables: { ADMIN_PORT: '-1' }, expected: /0 to 65535/ },
  { name: 'PUBLIC_URL', variables: { PUBLIC_URL: 'ftp://a' }, expected: /http:\/\/ or https:\/\// },
  { name: 'SETUP_URL_TEMPLATE', variables: { SETUP_URL_TEMPLATE: 'https://a/edit' }, expected: /\{shopId\}/ },
  {
    name: 'SETUP_URL_TEMPLATE',
    variables: { SETUP_URL_TEMPLATE: '{HOST}/{shopId}' },
    expected: /\{shopId\}/,
  },
  { name: 'PLATFORM_NAME', variables: { PLATFORM_NAME: 'two\nlines' }, expected: /one line/ },
  { name: 'TRUSTED_PROXIES', variables: { TRUSTED_PROXIES: '10.0.0.0/33' }, expected: /CIDR/ },
  { name: 'TRUSTED_PROXIES', variables: { TRUSTED_PROXIES: 'proxy.local' }, expected: /CIDR/ },
  { name: 'NODE_ID', variables: { NODE_ID: 'a b' }, expected: /letters, digits/ },
  { name: 'NODE_ID', variables: { NODE_ID: 'host:3000' }, expected: /letters, digits/ },
  {
    name: 'MSGAPP_SOCKET_URL',
    variables: { MSGAPP_SOCKET_URL: 'http://127.0.0.1' },
    expected: /ws:\/\/ or wss:\/\//,
  },
  {
    name: 'MSGAPP_NOISE_ROOT_KEY',
    variables: { ...simulated, MSGAPP_NOISE_ROOT_KEY: 'abc' },
    expected: /32 bytes/,
  },
  {
    name: 'MSGAPP_NOISE_ROOT_KEY',
    variables: { MSGAPP_NOISE_ROOT_KEY: key },
    expected: /leads to this machine/,
  },
  {
    name: 'MSGAPP_NOISE_ROOT_KEY',
    variables: { MSGAPP_SOCKET_URL: 'wss://web.example.com', MSGAPP_NOISE_ROOT_KEY: key },
    expected: /leads to this machine/,
  },
  {
    name: 'MSGAPP_CLIENT_VERSION',
    variables: { MSGAPP_CLIENT_VERSION: '2.3000' },
    expected: /latest, or three numbers/,
  },
  { name: 'SEND_GAP_MS', variables: { SEND_GAP_MS: '5999-20000' }, expected: /at least 6000 ms/ },
  {
    name: 'SEND_GAP_MS',
    variables: { MSGAPP_SOCKET_URL: 'ws://127.example.com', SEND_GAP_MS: '1-2' },
    expected: /at least 6000 ms/,
  },
  { name: 'SEND_GAP_MS', variables: { SEND_GAP_MS: '20000-6000' }, expected: /shorter gap first/ },
  { name: 'SEND_GAP_MS', variables: { SEND_GAP_MS: '6000' }, expected: /6000-20000/ },
  { name: 'SHARDS', variables: { SHARDS: '64' }, expected: /128 to 4096/ },
  { name: 'SESSION_WORKERS', variables: { SESSION_WORKERS: '0' }, expected: /1 to 64/ },
  { name: 'LOG_LEVEL', variables: { LOG_LEVEL: 'loud' }, expected: /fatal, error/ },
  { name: 'MESSAGE_RETENTION_DAYS', variables: { MESSAGE_RETENTION_DAYS: '1' }, expected: /2 to 3650/ },
  { name: 'EVENT_RETENTION_DAYS', variables: { EVENT_RETENTION_DAYS: '0' }, expected: /1 to 3650/ },
  { name: 'EVENT_MAX_ENTRIES', variables: { EVENT_MAX_ENTRIES: '-1' }, expected: /1 to 10000000/ },
  { name: 'REQUEST_LOG_RETENTION_DAYS', variables: { REQUEST_LOG_RETENTION_DAYS: 'x' }, expected: /3650/ },
  { name: 'REQUEST_LOG_MAX_ENTRIES', variables: { REQUEST_LOG_MAX_ENTRIES: '1.5' }, expected: /whole/ },
  { name: 'REQUEST_LOG_MAX_BYTES', variables: { REQUEST_LOG_MAX_BYTES: '-1' }, expected: /whole number/ },
];

for (const { name, variables, expected } of refusals) {
  test(`a service refuses ${JSON.stringify(variables)}`, () => {
    const error = refused({ ...least, ...variables });
    assert.deepEqual(names(error), [name]);
    assert.match(error.message, expected);
  });
}

test('every problem is listed at once, those between two variables too', () => {
  const error = refused({ PORT: 'x', SEND_GAP_MS: '1-2', MSGAPP_NOISE_ROOT_KEY: key, LOG_LEVEL: 'loud' });
  assert.deepEqual(names(error), [
    'ADMIN_TOKEN',
    'CREDENTIALS_KEY',
    'LOG_LEVEL',
    'MSGAPP_NOISE_ROOT_KEY',
    'PORT',
    'REDIS_URL',
    'SEND_GAP_MS',
  ]);
  assert.ok(error.problems.every((problem) => error.message.includes(problem)));
});

test('the value of a secret is never repeated', () => {
  const secret = 'hush hush';
  const { message } = refused({ ADMIN_TOKEN: secret, CREDENTIALS_KEY: secret, REDIS_URL: secret });
  assert.equal(message.includes('hush'), false);
});

test('bin/dev needs no settings, and starts every part that it was not given', () => {
  const environment = devEnvironment({ REDIS_URL: '' });
  assert.equal(environment.startsRedis, true);
  assert.equal(environment.startsSimulator, true);
  assert.equal(environment.simulatorPort, 3002);
});

test('bin/dev allows a short gap for its own simulator, and not for a given network', () => {
  assert.ok(devEnvironment({ SEND_GAP_MS: '1-2' }));
  const error = refused({ SEND_GAP_MS: '1-2', MSGAPP_SOCKET_URL: 'wss://web.example.com' }, devEnvironment);
  assert.deepEqual(names(error), ['SEND_GAP_MS']);
});

test('bin/dev refuses the values that the service would refuse, before it starts anything', () => {
  const error = refused({ PUBLIC_URL: 'x', CREDENTIALS_KEY: 'x', SIMULATOR_PORT: 'x' }, devEnvironment);
  assert.deepEqual(names(error), ['CREDENTIALS_KEY', 'PUBLIC_URL', 'SIMULATOR_PORT']);
});

test('bin/dev passes on its values unchanged', () => {
  const environment = devEnvironment({ ...least, ...simulated, CUSTOM: 'kept' });
  assert.equal(environment.startsRedis, false);
  assert.equal(environment.startsSimulator, false);
  assert.equal(environment.credentialsKey, key);
  assert.equal(environment.variables.CUSTOM, 'kept');
});

test('bin/simulator takes its port and the directory of its handsets', () => {
  assert.deepEqual(simulatorEnvironment({ SIMULATOR_PORT: '0', DATA_DIR: '/d', LOG_LEVEL: 'warn' }), {
    host: '127.0.0.1',
    port: 0,
    mediaPort: 0,
    dataDirectory: '/d',
    logLevel: 'warn',
  });
  assert.deepEqual(names(refused({ SIMULATOR_PORT: '70000' }, simulatorEnvironment)), ['SIMULATOR_PORT']);
});

test('tests take a seed and a number of runs, or neither', () => {
  assert.deepEqual(testEnvironment({}), { seed: 1, runs: undefined });
  assert.deepEqual(testEnvironment({ TEST_SEED: '-5', TEST_RUNS: '20' }), { seed: -5, runs: 20 });
  assert.deepEqual(names(refused({ TEST_SEED: 'x', TEST_RUNS: '0' }, testEnvironment)), [
    'TEST_RUNS',
    'TEST_SEED',
  ]);
});

test('the default number of session threads is the number of cores minus one, from 1 to 4', () => {
  assert.deepEqual([1, 2, 3, 5, 64].map(defaultSessionWorkers), [1, 1, 2, 4, 4]);
});
