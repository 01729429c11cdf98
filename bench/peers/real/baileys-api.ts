import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createPort } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type GuardedProcess, spawnGuarded } from '../../../service/dev/guarded-process.ts';
import { startPrivateRedis } from '../../../service/dev/private-redis.ts';
import { simulatorControl } from '../../../tests/testbed/simulator-control.ts';
import { ownerPhone } from '../../harness/live-shops.ts';
import { startSimulatorProcess } from '../../harness/live-side.ts';
import { inParallel } from '../../load/in-parallel.ts';
import { foldersOf, install } from './baileys-api-install.ts';
import { callWaves } from './call-waves.ts';
import type { Driver, Gateway, Place } from './driver.ts';

/** A key of the peer's form, which it looks up in its Redis. */
const API_KEY = 'kkkkkkkk0123456789abcdef0123456789abcdef';
const PAIRED_AT_ONCE = 8;
const PRELOAD = join(import.meta.dirname, 'bun-preload.mjs');

/** fazer-ai/baileys-api: the real client behind Bun, a call a message. */
export const baileysApi: Driver = {
  name: 'fazer-ai/baileys-api',
  prepare: async (place) => install(place),
  start,
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function start(place: Place, sessions: number): Promise<Gateway> {
  const folders = foldersOf(place.directory);
  const directory = mkdtempSync(join(place.directory, 'run-'));
  const [redisPort = 0, port = 0] = [await freePort(), await freePort()];
  const redis = await startPrivateRedis({
    directory,
    appendfsync: 'everysec',
    extraArgs: ['--port', String(redisPort), '--bind', '127.0.0.1'],
  });
  const simulator = await startSimulatorProcess(directory);
  const network = simulatorControl(simulator.url);
  const rootKey = await network.rootKey();
  execFileSync('redis-cli', [
    '-p',
    String(redisPort),
    'set',
    `@baileys-api:api-keys:${API_KEY}`,
    '{"role":"user"}',
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  const call = (method: string, path: string, body?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = { 'x-api-key': API_KEY, ...(text ? { 'content-type': 'application/json' } : {}) };
      const askedRequest = request({ host: '127.0.0.1', port, path, method, agent, headers }, (reply) => {
        let output = '';
        reply.setEncoding('utf8').on('data', (part) => (output += part));
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: output }));
        reply.on('error', reject);
      });
      askedRequest.on('error', reject);
      askedRequest.end(text);
    });
  const startServer = async (): Promise<GuardedProcess> => {
    const server = spawnGuarded({
      name: 'baileys-api',
      command: '/bin/sh',
      args: ['-c', 'exec "$@" >>"$LOG_PATH" 2>&1', 'peer', folders.bun, '--preload', PRELOAD, 'src/index.ts'],
      workingDirectory: folders.source,
      environment: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        NODE_ENV: 'production',
        PORT: String(port),
        REDIS_URL: `redis://127.0.0.1:${redisPort}`,
        BAILEYS_LOG_LEVEL: 'error',
        BENCH_CHAT_URL: `${simulator.url.replace('http', 'ws')}/ws/chat`,
        BENCH_ROOT_KEY: rootKey,
        LOG_PATH: join(directory, 'server.log'),
      },
    });
    const isUp = (): Promise<boolean> =>
      call('GET', '/status').then(
        ({ status }) => status === 200,
        () => false,
      );
    while (!(await isUp())) {
      const endedEnd = await Promise.race([server.ended, delay(50, undefined)]);
      if (endedEnd !== undefined) throw new Error(`baileys-api did not start: see ${directory}/server.log`);
    }
    return server;
  };
  let server = await startServer();
  const open = new Set<string>();
  const webhook = await startWebhook((phone, event) => {
    if (event.qr !== undefined) void network.scan(event.qr, phone).catch(() => undefined);
    if (event.connection === 'open') open.add(phone);
  });
  const phones = Array.from({ length: sessions }, (_, index) => ownerPhone(index));
  const startedMs = performance.now();
  await inParallel(phones, PAIRED_AT_ONCE, async (phone) => {
    const webhookUrl = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/${encodeURIComponent(phone)}`;
    const options = { webhookUrl, webhookVerifyToken: 'bench-verify-token', includeMedia: false };
    const { status, text } = await call('POST', `/connections/${encodeURIComponent(phone)}`, options);
    if (status !== 200) throw new Error(`baileys-api answered ${status}: ${text}`);
    while (!open.has(phone)) await delay(50);
  });
  const pairAllMs = performance.now() - startedMs;
  const valueAt = (index: number, field: string): string =>
    `/connections/${encodeURIComponent(phones[index] ?? '')}/${field}`;
  const send = async (index: number, to: string, text: string, key?: string): Promise<number> => {
    const id = key === undefined ? {} : { chatwootMessageId: key };
    const body = { jid: addressOf(to), messageContent: { text }, ...id };
    return (await call('POST', valueAt(index, 'send-message'), body)).status;
  };
  return {
    network,
    phones,
    get watch() {
      return { server: server.pid, redis: redis.process.pid, simulator: simulator.process.pid };
    },
    pairAllMs,
    waves: callWaves({
      sessions,
      lookUp: (phone, to) => call('POST', valueAt(phone, 'on-whatsapp'), { jids: [addressOf(to)] }),
      compose: (phone, to) =>
        call('PATCH', valueAt(phone, 'presence'), { type: 'composing', toJid: addressOf(to) }),
      async send(phone, to, text) {
        const status = await send(phone, to, text);
        if (status !== 200) throw new Error(`baileys-api answered ${status}`);
      },
    }),
    calls: {
      cheapestGet: () => ({
        port,
        bytes: `GET /status/auth HTTP/1.1\r\nHost: bench\r\nx-api-key: ${API_KEY}\r\n\r\n`,
      }),
      send: async ({ phone, to, text, key }) => (await send(phone, to, text, key)) === 200,
      // Its answer comes when the message was handed to the socket.
      settled: async () => 0,
    },
    async restart(signal) {
      server.signal(signal);
      await server.ended;
      server = await startServer();
    },
    async stop() {
      agent.destroy();
      webhook.closeAllConnections();
      webhook.close();
      for (const process of [server, simulator.process, redis.process]) {
        process.signal('SIGKILL');
        await process.ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface ConnectionUpdate {
  readonly qr?: string;
  readonly connection?: string;
}

/** Starts the server to which the peer reports its connections; the number is the path. */
async function startWebhook(heard: (phone: string, update: ConnectionUpdate) => void): Promise<Server> {
  const webhook = createServer((call, answer) => {
    let output = '';
    call.setEncoding('utf8').on('data', (part) => (output += part));
    call.on('end', () => {
      answer.end('ok');
      const { event, data } = JSON.parse(output) as { event: string; data: ConnectionUpdate };
      if (event === 'connection.update') heard(decodeURIComponent((call.url ?? '').slice(1)), data);
    });
  });
  webhook.keepAliveTimeout = 60_000;
  webhook.listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  return webhook;
}

function addressOf(phone: string): string {
  return `${phone.slice(1)}@s.whatsapp.net`;
}

async function freePort(): Promise<number> {
  const server = createPort().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
