import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { HOUR_MS } from '../../runtime/durations.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { type ApiClient, apiClient } from '../e2e/stack/api-client.ts';
import { type ServiceNode, startServiceNode } from '../e2e/stack/service-node.ts';
import { startRedisServer } from '../testbed/redis-server.ts';
import { type SimulatorControl, simulatorControl } from '../testbed/simulator-control.ts';
import { startParts } from '../testbed/started-parts.ts';

/** The retention of the month's service, in days: what is stored levels off after it. */
const RETENTION_DAYS = 7;
/**
 * Keys that live shorter than this by the machine's own clock are leases and the like: nothing of the simulated time.
 */
const SHORT_MS = 25 * HOUR_MS;
/** Removes the keys that are due by the moved clock. ARGV: the shortest life, and how far the clock is ahead. */
const EXPIRE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left > tonumber(ARGV[1]) and left <= tonumber(ARGV[2]) then redis.call('UNLINK', key) end
end`;
/** Counts the stored Signal keys, ids and tokens. ARGV: the names of the shops' hashes. */
const COUNT_KEYS = `
local count = 0
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do count = count + redis.call('HLEN', key) end
return count`;

/** The service logs this when an opening takes too long. */
const LATE_OPENING = 'the connection came to nothing in time';

/**
 * The bytes of the service that are resident, those in use in the heaps of its threads, and those that Redis uses.
 * `keys` counts the stored Signal keys, ids and tokens.
 */
export interface Size {
  readonly resident: number;
  readonly heaps: number;
  readonly stored: number;
  readonly keys: number;
}

/** A service, a Redis and a network whose time a month moves on. */
export interface World {
  readonly node: ServiceNode;
  readonly network: SimulatorControl;
  readonly admin: ApiClient;
  api(key: string): ApiClient;
  /** Logins of all sessions so far. */
  logins(): number;
  /** Openings so far that got nothing from the network for too long, and were tried again. */
  lateOpenings(): number;
  /** The time that everything has now. */
  nowMs(): number;
  /** Moves the clocks of the network, of Redis and of the service, also while that is down. */
  forward(byMs: number): Promise<void>;
  /** Sums of the service's figures, over its restarts, for names that begin so. */
  total(prefix: string): Promise<number>;
  /** Ends the service as a deployment does. */
  end(): Promise<void>;
  /** Starts it with a new key for the stored sessions, next to the one before. */
  start(): Promise<void>;
  size(): Promise<Size>;
  /** The number of stored Signal keys, ids and tokens of a shop. */
  storedKeys(shopId: string): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the world at the present. */
export function startWorld(): Promise<World> {
  return startParts(async (parts) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'month-'));
    parts.add(() => rmSync(dataDir, { recursive: true, force: true }));
    const redis = await startRedisServer();
    parts.add(() => redis.stop());
    const store = new Redis(redis.url);
    parts.add(() => store.disconnect());
    let logins = 0;
    const simulator = await startSimulator({
      port: 0,
      dataDir: join(dataDir, 'simulator'),
      log: ({ event }) => {
        if (event === 'companion logged in') logins += 1;
      },
    });
    parts.add(() => simulator.close());
    const network = simulatorControl(simulator.url);
    const clock = join(dataDir, 'clock');
    const adminToken = randomBytes(24).toString('base64url');
    let aheadMs = 0;
    writeFileSync(clock, '0');
    const mediaCa = join(dataDir, 'media-ca.pem');
    writeFileSync(mediaCa, await network.mediaCa());
    let credentialsKey = randomBytes(32).toString('base64');
    const preload = `${pathToFileURL(join(import.meta.dirname, 'moved-clock.mjs')).href}?path=${encodeURIComponent(clock)}`;
    const node = await startServiceNode(
      {
        ADMIN_TOKEN: adminToken,
        REDIS_URL: redis.url,
        DATA_DIR: dataDir,
        CREDENTIALS_KEY: credentialsKey,
        MSGAPP_SOCKET_URL: simulator.chatUrl,
        MSGAPP_NOISE_ROOT_KEY: simulator.noiseRootKey,
        NODE_EXTRA_CA_CERTS: mediaCa,
        MESSAGE_RETENTION_DAYS: String(RETENTION_DAYS),
        SEND_GAP_MS: '50-150',
        NODE_ID: 'node-1',
        LOG_LEVEL: 'warn',
        NODE_OPTIONS: `--import=${preload}`,
      },
      'tests/month/moved-service.ts',
    );
    parts.add(() => node.end('SIGKILL'));
    const earlier = new Map<string, number>();
    const figures = async (): Promise<Map<string, number>> => {
      const headers = { authorization: `Bearer ${adminToken}` };
      const text = await (await fetch(`${node.adminUrl()}/metrics`, { headers })).text();
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return new Map(
        lines.map((line) => {
          const separator = line.lastIndexOf(' ');
          return [line.slice(0, separator), Number(line.slice(separator + 1))];
        }),
      );
    };
    return {
      node,
      network,
      admin: apiClient(() => `${node.adminUrl()}/admin/v1`, adminToken),
      api: (key) => apiClient(node.apiUrl, key),
      logins: () => logins,
      lateOpenings: () => node.log().split(LATE_OPENING).length - 1,
      nowMs: () => Date.now() + aheadMs,
      async forward(byMs) {
        aheadMs += byMs;
        writeFileSync(clock, String(aheadMs));
        await network.forward(byMs);
        if (node.runs()) node.signal('SIGPWR');
        // Redis has no clock to move.
        await store.eval(EXPIRE, 0, SHORT_MS, aheadMs);
      },
      async total(prefix) {
        return sumOf(earlier, prefix) + sumOf(await figures(), prefix);
      },
      async end() {
        for (const [name, value] of await figures()) earlier.set(name, (earlier.get(name) ?? 0) + value);
        await node.end('SIGTERM');
      },
      async start() {
        const before = credentialsKey;
        credentialsKey = randomBytes(32).toString('base64');
        await node.start({ settings: { CREDENTIALS_KEY: `${credentialsKey},${before}` } });
      },
      async size() {
        const stored = Number(/used_memory:(\d+)/.exec(await store.info('memory'))?.[1]);
        const keys = Number(await store.eval(COUNT_KEYS, 0, '*:credentials'));
        const now = await figures();
        return {
          resident: now.get('process_resident_memory_bytes') ?? Number.NaN,
          heaps: sumOf(now, 'nodejs_heap_size_used_bytes') + sumOf(now, 'msgapi_session_worker_heap_bytes'),
          stored,
          keys,
        };
      },
      storedKeys: async (shopId) => Number(await store.eval(COUNT_KEYS, 0, `*${shopId}*:credentials`)),
      stop: () => parts.stop(),
    };
  });
}

function sumOf(figures: ReadonlyMap<string, number>, prefix: string): number {
  return [...figures].reduce((sum, [name, value]) => sum + (name.startsWith(prefix) ? value : 0), 0);
}
