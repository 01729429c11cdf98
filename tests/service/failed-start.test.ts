/** A node that does not start, or whose stop fails in part, leaves nothing behind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock as clock } from '../../runtime/clock.ts';
import { type ServiceOptions, startService, stopService } from '../../service/compose-service.ts';
import { type GuardedProcess, spawnGuarded } from '../../service/dev/guarded-process.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { listening } from '../testbed/listening.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { moduleFile, nodeFlags, root } from '../testbed/root.ts';
import { sharedRedis } from '../testbed/shared-redis.ts';
import { eventually } from '../testbed/waiting.ts';
import { nodeSettings } from './node-settings.ts';

const { redis, url: redisUrl } = sharedRedis();
const LEASE = '{runtime}:lease:failed-1';
const dataDir = mkdtempSync(join(tmpdir(), 'failed-start-'));
/** It has the address of the operators' listener. */
const other = createServer();
let settings: Readonly<Record<string, string>>;

before(async () => {
  settings = {
    ...(await nodeSettings({ nodeId: 'failed-1', redisUrl, dataDir })),
    ADMIN_PORT: String(await listening(other)),
  };
});
after(() => {
  other.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The number of connections to Redis without the test's own. */
async function connectionsOfOthers(): Promise<number> {
  const clients = String(await redis.client('LIST'))
    .trim()
    .split('\n');
  return clients.length - 1;
}

/** Starts a node that cannot start. Returns its log. */
async function failedStart(startHost: ServiceOptions['startHost'], reason: RegExp): Promise<QuietLog> {
  const log = new QuietLog();
  const environment = serviceEnvironment(settings);
  await assert.rejects(startService({ environment, log, startHost, onLost: () => undefined }), reason);
  await eventually(async () => (await connectionsOfOthers()) === 0, 10_000);
  return log;
}

/** A sending component that counts its stops. */
class CountedHost extends MemorySessionHost {
  stops = 0;

  override async stop(): Promise<void> {
    this.stops += 1;
    await super.stop();
  }
}

test('a node whose address is not free gives back all that it took', async () => {
  let host: CountedHost | undefined;
  const log = await failedStart(
    (_node, listener) => {
      host = new CountedHost({ clock, listener });
      return host;
    },
    new RegExp(String(settings.ADMIN_PORT)),
  );
  assert.equal(await redis.exists(LEASE), 0);
  assert.equal(host?.stops, 1);
  const free = createServer().listen(Number(settings.PORT), '127.0.0.1');
  await once(free, 'listening');
  free.close();
  assert.deepEqual([log.warnings, log.errors], [[], []]);
});

test('a node whose sending component does not start closes its connections', async () => {
  const log = await failedStart(() => {
    throw new Error('no workers');
  }, /no workers/);
  assert.deepEqual([log.warnings, log.errors], [[], []]);
});

test('a part that cannot be stopped does not keep the others', async () => {
  let host: CountedHost | undefined;
  const log = await failedStart(
    (node, listener) => {
      const stop = node.stop.bind(node);
      node.stop = async () => {
        await stop();
        throw new Error('not stopped');
      };
      host = new CountedHost({ clock, listener });
      return host;
    },
    new RegExp(String(settings.ADMIN_PORT)),
  );
  assert.equal(host?.stops, 1);
  assert.deepEqual(log.errors, ['a node that did not start could not be stopped']);
});

test('a stop whose first steps fail stops all parts, and reports the errors in their order', async () => {
  const hosts: CountedHost[] = [];
  const service = await startService({
    environment: serviceEnvironment({ ...settings, ADMIN_PORT: '0' }),
    log: new QuietLog(),
    startHost: (_node, listener) => {
      const host = new CountedHost({ clock, listener });
      hosts.push(host);
      return host;
    },
    onLost: () => undefined,
  });
  const { http, node } = service;
  const closedWith: number[] = [];
  const close = http.close.bind(http);
  http.close = async ({ graceMs }) => {
    closedWith.push(graceMs);
    await close({ graceMs: 0 });
    if (closedWith.length === 1) throw new Error('not closed');
  };
  node.handOver = () => Promise.reject(new Error('not handed over'));
  await assert.rejects(stopService(service), ({ errors }: AggregateError) => {
    const messages = errors.map((error: Error) => error.message);
    // The stop of the node hands over too.
    assert.deepEqual(messages, ['not closed', 'not handed over', 'not handed over']);
    return true;
  });
  assert.equal(closedWith.length, 2);
  assert.deepEqual(
    hosts.map(({ stops }) => stops),
    [1],
  );
  await eventually(async () => (await connectionsOfOthers()) === 0, 10_000);
});

test('a start that is aborted before the node runs takes no lease, and one that is aborted later gives it back', async () => {
  await redis.del(LEASE);
  const steps: string[] = [];
  for (const moment of ['before', 'after'] as const) {
    const start = new AbortController();
    const hosts: CountedHost[] = [];
    const starting = startService({
      environment: serviceEnvironment({ ...settings, ADMIN_PORT: '0' }),
      log: new QuietLog(),
      startHost: (node, listener) => {
        const run = node.run.bind(node);
        node.run = async () => {
          await run();
          steps.push(`runs: ${await redis.exists(LEASE)}`);
          start.abort();
        };
        if (moment === 'before') start.abort();
        const host = new CountedHost({ clock, listener });
        hosts.push(host);
        return host;
      },
      onLost: () => undefined,
      signal: start.signal,
    });
    await assert.rejects(starting, (error) => error === start.signal.reason);
    steps.push(`${moment}: ${await redis.exists(LEASE)}`);
    assert.deepEqual(
      hosts.map(({ stops }) => stops),
      [1],
    );
    await eventually(async () => (await connectionsOfOthers()) === 0, 10_000);
  }
  assert.deepEqual(steps, ['before: 0', 'runs: 1', 'after: 0']);
});

/** Starts the program with these changes of its settings. */
function startProgram(changes: Readonly<Record<string, string>> = {}): GuardedProcess {
  return spawnGuarded({
    name: 'failed-1',
    command: process.execPath,
    args: [...nodeFlags, moduleFile('service/service.ts')],
    workingDirectory: root,
    environment: { PATH: dirname(process.execPath), ...settings, ...changes },
    errors: 'read',
  });
}

test('a signal during the start ends the program with 0, without its lease', async (context) => {
  await redis.del(LEASE);
  // To ask for the lease again and again would be too slow: the start ends soon after it is taken.
  await redis.config('SET', 'notify-keyspace-events', 'KA');
  const subscriber = redis.duplicate();
  context.after(() => subscriber.disconnect());
  await subscriber.subscribe(`__keyspace@0__:${LEASE}`);
  const isTaken = once(subscriber, 'message');
  const program = startProgram({ ADMIN_PORT: '0' });
  program.stderr?.resume();
  await isTaken;
  program.signal('SIGTERM');
  assert.equal((await program.ended).code, 0);
  assert.equal(await redis.exists(LEASE), 0);
});

test('a signal during the stop after a failed start does not hide the failure', async () => {
  await redis.del('credentials-check');
  const service = startProgram();
  let text = '';
  service.stderr?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('could not start')) service.signal('SIGTERM');
  });
  await eventually(async () => (await redis.exists('credentials-check')) === 1);
  // The stop then takes long.
  await redis.client('PAUSE', 5_000, 'ALL');
  assert.equal((await service.ended).code, 1);
  assert.match(text, /The service could not start: /);
});
