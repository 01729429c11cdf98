/** The heap of a call that waits for events, after a full collection. It does not depend on the machine. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Target } from './conformance-target.ts';
import { type ServiceFixture, startService, targetOf } from './service-fixture.ts';

const READERS_PER_TENANT = 250;
const READERS = 2_000;
/** The most heap of a waiting call and of an open stream: 1,010 and 1,134 when this was written, plus a margin. */
const MOST_BYTES = 1_200;
const MOST_STREAM_BYTES = 1_400;

/** Readers in a process of their own, so that their ends of the connections do not count. They hold on until it ends. */
const CLIENT = `
  const { connect } = require('node:net');
  const { port, keys, readers, accept } = JSON.parse(process.argv[1]);
  for (let reader = 0; reader < readers; reader += 1) {
    const key = keys[reader % keys.length];
    const socket = connect(port, '127.0.0.1', () => socket.write(
      'GET /api/v1/events?waitMs=30000&cursor=000000000000000000000000 HTTP/1.1\\r\\nHost: test\\r\\nAuthorization: Bearer ' + key + '\\r\\n' + accept + '\\r\\n'));
    socket.on('data', () => undefined).on('error', () => undefined);
  }
`;

let service: ServiceFixture;
let target: Target;
let keys: readonly string[];
let collect: () => void;
before(async () => {
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc');
  const silent = (): void => undefined;
  // The fixture's own remembers each line.
  const log = { debug: silent, info: silent, warn: silent, error: silent, request: silent };
  service = await startService({ log });
  target = await targetOf(service);
  const tenants = Array.from({ length: READERS / READERS_PER_TENANT }, () => target.tenant());
  keys = (await Promise.all(tenants)).map(({ key }) => key);
});
after(async () => {
  target?.close();
  await service?.stop();
});

/** Heap in use after full collections, until another frees nothing. */
async function heapBytes(): Promise<number> {
  for (let least = Number.POSITIVE_INFINITY; ; ) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed >= least) return least;
    least = heapUsed;
  }
}

async function bytesOfReader(accept: string): Promise<number> {
  const port = Number(new URL(service.apiUrl).port);
  const measured = async (readers: number): Promise<number> => {
    const plan = JSON.stringify({ port, keys, readers, accept });
    const client = spawn(process.execPath, ['-e', CLIENT, plan], { stdio: 'inherit' });
    while (service.eventWaiters.count < readers) await new Promise((resolve) => setImmediate(resolve));
    const bytes = await heapBytes();
    client.kill();
    await once(client, 'exit');
    while (service.eventWaiters.count > 0) await new Promise((resolve) => setImmediate(resolve));
    return bytes;
  };
  // Code and tables that readers bring with them are there then.
  await measured(READERS);
  const few = await measured(READERS / 10);
  return ((await measured(READERS)) - few) / (READERS * 0.9);
}

for (const [name, accept, most] of [
  ['a call that waits', '', MOST_BYTES],
  ['an open stream', 'Accept: text/event-stream\r\n', MOST_STREAM_BYTES],
] as const) {
  test(`${name} for events holds at most ${most} bytes`, async (context) => {
    const bytes = Math.round(await bytesOfReader(accept));
    context.diagnostic(`${bytes} bytes`);
    assert.ok(bytes <= most, `${bytes} bytes`);
  });
}
