/**
 * The promises of the image, on a Docker engine: `npm run test:containers` builds it and runs this file. It is not in
 * `bin/test`, which must pass without an engine. Here a missing engine fails the run.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { png } from '../actors/sessions/attachments/media-samples.ts';
import { type Account, makeAccount } from '../e2e/stack/account.ts';
import { connectShop, type ShopSurroundings, sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { simulatorControl } from '../testbed/simulator-control.ts';
import { containersEnvironment } from '../testbed/test-environment.ts';
import { until } from '../testbed/waiting.ts';
import { runServiceImage, type ServiceContainer, startServiceContainer } from './service-container.ts';

const SHOP_PHONE = '+33611110001';
const CUSTOMER = '+33622220001';
/** The policy keeps 10 minutes between two messages to somebody who did not answer. */
const SECOND_CUSTOMER = '+33622220002';
const THIRD_CUSTOMER = '+33622220003';

const { serviceImage, redisImage } = containersEnvironment();
const dataDir = mkdtempSync(join(tmpdir(), 'containers-'));
let simulator: Simulator;
let redis: StartedTestContainer;
let service: ServiceContainer | undefined;
let account: Account;
let surroundings: ShopSurroundings;
let startService: () => Promise<ServiceContainer>;

before(async () => {
  simulator = await startSimulator({ port: 0, dataDir });
  redis = await new GenericContainer(redisImage)
    .withCommand(['redis-server', '--protected-mode', 'no', '--appendonly', 'yes', '--appendfsync', 'always'])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .start();
  const environment = {
    REDIS_URL: `redis://127.0.0.1:${redis.getMappedPort(6379)}`,
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    MSGAPP_SOCKET_URL: simulator.chatUrl,
    MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
    SEND_GAP_MS: '50-150',
    NODE_ID: 'node-1',
    NODE_EXTRA_CA_CERTS: '/media-ca.pem',
  };
  const mediaCa = join(dataDir, 'media-ca.pem');
  writeFileSync(mediaCa, await simulatorControl(simulator.url).mediaCa());
  const files = { '/media-ca.pem': mediaCa };
  startService = () => startServiceContainer(serviceImage, environment, files);
  service = await startService();
  account = await makeAccount(service.admin);
  surroundings = { api: service.api(account.apiKey), network: simulatorControl(simulator.url) };
});

after(async () => {
  await service?.stop();
  await redis?.stop();
  await simulator?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The container under test; the last test ends it and starts another. */
function running(): ServiceContainer {
  assert.ok(service, 'the service runs');
  return service;
}

test('the image weighs 180 MB at most', async () => {
  const { stdout } = await promisify(execFile)('docker', [
    'image',
    'inspect',
    '--format',
    '{{.Size}}',
    serviceImage,
  ]);
  assert.ok(Number(stdout) <= 180_000_000, `${Number(stdout) / 1e6} MB`);
});

test('the labels name the build of the image', async () => {
  const { stdout } = await promisify(execFile)('docker', [
    'image',
    'inspect',
    '--format',
    '{{json .Config.Labels}}',
    serviceImage,
  ]);
  const labels = JSON.parse(stdout) as Record<string, string>;
  const label = (name: string): string => labels[`org.opencontainers.image.${name}`] ?? '';
  assert.match(label('version'), /^\d+\.\d+\.\d+$/);
  assert.match(label('revision'), /^[0-9a-f]{40}(-dirty)?$/);
  assert.ok(Date.parse(label('created')) > 0);
});

test('without REDIS_URL, ADMIN_TOKEN and CREDENTIALS_KEY the image refuses to start and names all three', async () => {
  const { exitCode, log } = await runServiceImage(serviceImage);
  assert.equal(exitCode, 1);
  for (const name of ['REDIS_URL', 'ADMIN_TOKEN', 'CREDENTIALS_KEY'])
    assert.match(log, new RegExp(`${name}: expected`));
});

test('without a directory for attachments the image refuses to start and names the mount', async () => {
  const { exitCode, log } = await runServiceImage(serviceImage, {
    REDIS_URL: 'redis://127.0.0.1:1',
    ADMIN_TOKEN: randomBytes(24).toString('hex'),
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
  });
  assert.equal(exitCode, 1);
  assert.match(log, /no file can be written in \/tmp \(EROFS\).*--tmpfs \/tmp/);
});

test('process 1 is Node, its user owns no file, and only /tmp can be written', async () => {
  const found = JSON.parse(
    await running().run(`
      const { readFileSync, writeFileSync } = require('node:fs');
      const refusal = (path) => {
        try { writeFileSync(path, 'x'); return null; } catch (error) { return error.code; }
      };
      console.log(JSON.stringify({
        first: readFileSync('/proc/1/cmdline', 'utf8').split('\\0')[0],
        user: process.getuid(),
        group: process.getgid(),
        writes: ['/x', '/tmp/x', '/app/x', '/app/dist/service/service.js'].map(refusal),
      }));
    `),
  );
  assert.deepEqual(found, {
    first: '/usr/bin/node',
    user: 65_532,
    group: 65_532,
    writes: ['EROFS', null, 'EROFS', 'EROFS'],
  });
});

test('the image has neither shell, npm, compiler, TypeScript nor development packages', async () => {
  const files = (
    await running().run(`
    for (const each of require('node:fs').readdirSync('/app', { recursive: true })) console.log(each);
  `)
  ).split('\n');
  assert.ok(files.includes('dist/service/service.js'));
  assert.deepEqual(
    files.filter((file) => file.endsWith('.ts')),
    [],
  );
  for (const name of ['typescript', 'tsx', 'testcontainers', '@biomejs', '@types', 'esbuild'])
    assert.ok(!files.includes(`node_modules/${name}`), `${name} is in the image`);
  for (const program of ['/bin/sh', '/bin/bash', '/usr/bin/npm', '/usr/bin/apt-get', '/usr/bin/cc'])
    assert.notEqual(await running().exitCodeOf([program, '--version']), 0, `${program} is in the image`);
});

test('a shop is connected by a scan, and its message reaches the phone', async () => {
  await connectShop(surroundings, account.shopId, SHOP_PHONE);
  const acceptedAnswer = await sendText(surroundings, account.shopId, {
    to: CUSTOMER,
    text: 'Your bread is ready',
  });
  assert.deepEqual([acceptedAnswer.status, acceptedAnswer.error?.code], [202, undefined]);
  await untilStatus(surroundings, String(acceptedAnswer.data.id), 'sent');
  const inbox = await surroundings.network.inbox(CUSTOMER);
  assert.deepEqual(
    inbox.items.map(({ from, text }) => ({ from, text })),
    [{ from: SHOP_PHONE, text: 'Your bread is ready' }],
  );
});

test('an image reaches the phone whole, with a thumbnail', async () => {
  const bytes = png(600, 400);
  const media = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
  });
  await new Promise<void>((resolve) => media.listen(0, '127.0.0.1', resolve));
  try {
    const acceptedAnswer = await surroundings.api.post(`/shops/${account.shopId}/messages`, {
      channel: 'msgapp',
      to: THIRD_CUSTOMER,
      mediaUrl: `http://127.0.0.1:${(media.address() as AddressInfo).port}/bread.png`,
      mediaType: 'image',
    });
    assert.deepEqual([acceptedAnswer.status, acceptedAnswer.error?.code], [202, undefined]);
    await untilStatus(surroundings, String(acceptedAnswer.data.id), 'sent');
    const [receivedEntry] = (await surroundings.network.inbox(THIRD_CUSTOMER)).items;
    assert.equal(receivedEntry?.mediaSha256, createHash('sha256').update(bytes).digest('hex'));
    assert.deepEqual(
      [receivedEntry?.media?.width, receivedEntry?.media?.thumbnail?.slice(0, 4)],
      [600, '/9j/'],
    );
  } finally {
    media.close();
  }
});

test('SIGTERM ends the service with 0 within 10 seconds, and another container carries on without a scan', async () => {
  assert.equal(await running().stop(), 0);
  service = undefined;
  service = await startService();
  const api = service.api(account.apiKey);
  await until('the session is back', async () => {
    const channel = await api.get(`/shops/${account.shopId}/channels/msgapp`);
    return channel.data.status === 'connected';
  });
  const acceptedAnswer = await sendText({ api }, account.shopId, {
    to: SECOND_CUSTOMER,
    text: 'We close at six',
  });
  assert.deepEqual([acceptedAnswer.status, acceptedAnswer.error?.code], [202, undefined]);
  await untilStatus({ api }, String(acceptedAnswer.data.id), 'sent');
});
