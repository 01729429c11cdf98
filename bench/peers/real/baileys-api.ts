import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, createServer as createPort } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type GuardedProcess, spawnGuarded } from '../../../service/guarded-process.ts';
import { startPrivateRedis } from '../../../service/private-redis.ts';
import { simulatorControl } from '../../../simulator/control-client.ts';
import { customer } from '../../benches/live-shops.ts';
import type { Figures } from '../../harness/bench.ts';
import { startSimulatorProcess } from '../../harness/live-side.ts';
import { cpuMs } from '../../harness/process-usage.ts';
import { inParallel } from '../../load/in-parallel.ts';
import { foldersOf, install } from './baileys-api-install.ts';
import type { Driver, Gateway, Place, Wave } from './driver.ts';

/** A key of the peer's form, which it looks up in its Redis. */
const API_KEY = 'kkkkkkkk0123456789abcdef0123456789abcdef';
const PAIRED_AT_ONCE = 8;
/** How long this service shows composing before such a text. */
const COMPOSING_MS = { least: 1_200, most: 2_000 };
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
      const headers = { 'x-api-key': API_KEY, ...(text && { 'content-type': 'application/json' }) };
      const asked = request({ host: '127.0.0.1', port, path, method, agent, headers }, (reply) => {
        let all = '';
        reply.setEncoding('utf8').on('data', (part) => (all += part));
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: all }));
        reply.on('error', reject);
      });
      asked.on('error', reject);
      asked.end(text);
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
      const ended = await Promise.race([server.ended, delay(50, undefined)]);
      if (ended !== undefined) throw new Error(`baileys-api did not start: see ${directory}/server.log`);
    }
    return server;
  };
  let server = await startServer();
  const open = new Set<string>();
  const webhook = await startWebhook((phone, event) => {
    if (event.qr !== undefined) void network.scan(event.qr, phone).catch(() => undefined);
    if (event.connection === 'open') open.add(phone);
  });
  const phones = Array.from({ length: sessions }, (_, index) => `+3361${String(index).padStart(7, '0')}`);
  const startedMs = performance.now();
  await inParallel(phones, PAIRED_AT_ONCE, async (phone) => {
    const webhookUrl = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/${encodeURIComponent(phone)}`;
    const options = { webhookUrl, webhookVerifyToken: 'bench-verify-token', includeMedia: false };
    const { status, text } = await call('POST', `/connections/${encodeURIComponent(phone)}`, options);
    if (status !== 200) throw new Error(`baileys-api answered ${status}: ${text}`);
    while (!open.has(phone)) await delay(50);
  });
  const pairAllMs = performance.now() - startedMs;
  const at = (index: number, what: string): string =>
    `/connections/${encodeURIComponent(phones[index] ?? '')}/${what}`;
  const send = async (index: number, to: string, text: string, key?: string): Promise<number> => {
    const body = { jid: addressOf(to), messageContent: { text }, ...(key && { chatwootMessageId: key }) };
    return (await call('POST', at(index, 'send-message'), body)).status;
  };
  return {
    network,
    phones,
    get watch() {
      return { server: server.pid, redis: redis.process.pid, simulator: simulator.process.pid };
    },
    pairAllMs,
    waves: wavesOf({ sessions, server: () => server.pid, call, send, at }),
    cheapestGet: () => ({
      port,
      bytes: `GET /status/auth HTTP/1.1\r\nHost: bench\r\nx-api-key: ${API_KEY}\r\n\r\n`,
    }),
    send: async ({ phone, to, text, key }) => (await send(phone, to, text, key)) === 200,
    // Its answer comes when the message was handed to the socket.
    settled: async () => 0,
    async restart(signal) {
      server.signal(signal);
      await server.ended;
      server = await startServer();
    },
    async stop() {
      agent.destroy();
      webhook.closeAllConnections();
      webhook.close();
      for (const each of [server, simulator.process, redis.process]) {
        each.signal('SIGKILL');
        await each.ended;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

interface Peer {
  readonly sessions: number;
  readonly server: () => number;
  readonly call: (method: string, path: string, body?: object) => Promise<Answer>;
  readonly send: (index: number, to: string, text: string) => Promise<number>;
  readonly at: (index: number, what: string) => string;
}

/**
 * Returns the ways of sending: with this service's steps (look-up, composing, the wait, the message), and as fast as it
 * can.
 */
function wavesOf(peer: Peer): Wave[] {
  const { send, call, at } = peer;
  let serial = 0;
  const text = (): string => `Your order ${serial++} waits at the counter.`;
  const alike = async (index: number, to: string): Promise<number> => {
    await call('POST', at(index, 'on-whatsapp'), { jids: [addressOf(to)] });
    await call('PATCH', at(index, 'presence'), { type: 'composing', toJid: addressOf(to) });
    await delay(COMPOSING_MS.least + Math.random() * (COMPOSING_MS.most - COMPOSING_MS.least));
    return send(index, to, text());
  };
  const alone = (index: number, to: string): Promise<number> => send(index, to, text());
  const first = (offset: number) => (index: number, turn: number, each: number) =>
    customer(index + turn + offset * each);
  const known = (index: number, turn: number) => customer(index + (turn % 8));
  const ways: readonly (readonly [name: string, times: number, way: Omit<Way, 'each'>])[] = [
    [
      'made to do the same: look-up, composing, wait, send',
      1,
      { atOnce: 1, act: alike, recipient: first(0) },
    ],
    ['send alone, first contacts, 1 call a session', 1, { atOnce: 1, act: alone, recipient: first(1) }],
    ['send alone, first contacts, 4 calls a session', 1, { atOnce: 4, act: alone, recipient: first(2) }],
    ['send alone, known chats, 1 call a session', 4, { atOnce: 1, act: alone, recipient: known }],
    ['send alone, known chats, 4 calls a session', 4, { atOnce: 4, act: alone, recipient: known }],
  ];
  return ways.map(([name, times, way]) => ({
    name,
    send: (each) => calls(peer, { ...way, each: times * each }),
  }));
}

/** One way of calling: so many calls of a session under way at a time, each to the recipient of its turn. */
interface Way {
  readonly each: number;
  readonly atOnce: number;
  readonly act: (index: number, to: string) => Promise<number>;
  readonly recipient: (index: number, turn: number, each: number) => string;
}

/** `each` messages of every session. */
async function calls({ sessions, server }: Peer, way: Way): Promise<Figures> {
  const { each, atOnce, act, recipient } = way;
  const before = { cpuMs: cpuMs(server()), atMs: performance.now() };
  const tookMs: number[] = [];
  const work = async (index: number): Promise<void> => {
    const turns = Array.from({ length: each }, (_, turn) => turn);
    await inParallel(turns, atOnce, async (turn) => {
      const startedMs = performance.now();
      const status = await act(index, recipient(index, turn, each));
      if (status !== 200) throw new Error(`baileys-api answered ${status}`);
      tookMs.push(performance.now() - startedMs);
    });
  };
  await Promise.all(Array.from({ length: sessions }, (_, index) => work(index)));
  const count = each * sessions;
  tookMs.sort((one, other) => one - other);
  return {
    perSecond: (count * 1_000) / (performance.now() - before.atMs),
    cpuMsPerMessage: (cpuMs(server()) - before.cpuMs) / count,
    callP50Ms: tookMs[Math.floor(count * 0.5)] ?? Number.NaN,
    callP99Ms: tookMs[Math.floor(count * 0.99)] ?? Number.NaN,
  };
}

interface ConnectionUpdate {
  readonly qr?: string;
  readonly connection?: string;
}

/** Starts the server to which the peer reports its connections; the number is the path. */
async function startWebhook(heard: (phone: string, update: ConnectionUpdate) => void): Promise<Server> {
  const webhook = createServer((call, answer) => {
    let all = '';
    call.setEncoding('utf8').on('data', (part) => (all += part));
    call.on('end', () => {
      answer.end('ok');
      const { event, data } = JSON.parse(all) as { event: string; data: ConnectionUpdate };
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
