/** The heap of a call that waits for events, after a full collection. It does not depend on the machine. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sharedService } from '../shared-service.ts';

const READERS_PER_TENANT = 250;
/** Readers that come at a time, the times that are measured, and those before, in which code and tables get warm. */
const STEP = 250;
const STEPS = 8;
const WARM_STEPS = 3;
/** The most heap of a waiting call and of an open stream: 1,010 and 1,134 when this was written, plus a margin. */
const MOST_BYTES = 1_300;
const MOST_STREAM_BYTES = 1_500;

/**
 * Readers in a process of their own, so that their ends of the connections do not count. It is sent how many there are
 * to be. They hold on until it ends; one whose wait has ended asks again.
 */
const CLIENT = `
  const { connect } = require('node:net');
  const { port, keys, accept } = JSON.parse(process.argv[1]);
  let readers = 0;
  process.on('message', (wanted) => {
    for (; readers < wanted; readers += 1) {
      const key = keys[readers % keys.length];
      const ask = () => socket.write('GET /api/v1/events?waitMs=30000&cursor=000000000000000000000000 HTTP/1.1\\r\\nHost: test\\r\\nAuthorization: Bearer ' + key + '\\r\\n' + accept + '\\r\\n');
      const socket = connect(port, '127.0.0.1', ask);
      socket.on('data', accept === '' ? ask : () => undefined).on('error', () => undefined);
    }
  });
`;

const silent = (): void => undefined;
// The fixture's own log remembers each line.
const log = { debug: silent, info: silent, warn: silent, error: silent, request: silent };
let keys: readonly string[];
const { service, target } = sharedService({ log }, async () => {
  setFlagsFromString('--expose-gc');
  collect = runInNewContext('gc');
  const tenants = Array.from({ length: (STEP * (WARM_STEPS + STEPS)) / READERS_PER_TENANT }, () =>
    target.tenant(),
  );
  keys = (await Promise.all(tenants)).map(({ key }) => key);
});
let collect: () => void;

/** Heap in use after full collections, until another frees nothing. */
async function heapBytes(): Promise<number> {
  for (let least = Number.POSITIVE_INFINITY; ; ) {
    await nextTurn();
    collect();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed >= least) return least;
    least = heapUsed;
  }
}

/** How much the heap grows with each reader that is added. */
async function bytesOfReader(accept: string): Promise<number> {
  const plan = JSON.stringify({ port: Number(new URL(service.apiUrl).port), keys, accept });
  const client = spawn(process.execPath, ['-e', CLIENT, plan], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const points: Point[] = [];
  for (let step = 1; step <= WARM_STEPS + STEPS; step += 1) {
    const readers = step * STEP;
    client.send(readers);
    while (service.eventWaiters.count < readers) await nextTurn();
    const bytes = await heapBytes();
    if (step > WARM_STEPS) points.push({ readers, bytes });
  }
  client.kill();
  await once(client, 'exit');
  while (service.eventWaiters.count > 0) await nextTurn();
  return medianSlope(points);
}

interface Point {
  readonly readers: number;
  readonly bytes: number;
}

/**
 * The median of the slopes between all points (Theil and Sen). Now and then some hundred kilobytes are there for a
 * moment that have nothing to do with the readers. A mean or two points alone would take them for the readers'.
 */
function medianSlope(points: readonly Point[]): number {
  const slopes = points.flatMap((point, index) =>
    points
      .slice(index + 1)
      .map((otherPoint) => (otherPoint.bytes - point.bytes) / (otherPoint.readers - point.readers)),
  );
  return slopes.sort((one, other) => one - other)[Math.floor(slopes.length / 2)] ?? Number.NaN;
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
