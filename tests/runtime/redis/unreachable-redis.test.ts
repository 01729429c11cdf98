/** A start without a Redis that answers says why. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '../../../runtime/clock.ts';
import { RedisEngine } from '../../../runtime/redis/redis-engine.ts';
import { freePorts } from '../../testbed/free-ports.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';

const connectTo = (port: number): Promise<RedisEngine> =>
  RedisEngine.connect(`redis://127.0.0.1:${port}`, { log: new QuietLog(), clock: systemClock, answerMs: 50 });

test('a port on which nothing listens is named as the reason', async () => {
  const [port = 0] = await freePorts(1);
  await assert.rejects(connectTo(port), { message: 'Redis cannot be reached (ECONNREFUSED)' });
});

test('a server that never answers is named as the reason', async (context) => {
  const server = createServer((socket) => void context.after(() => socket.destroy())).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await assert.rejects(connectTo(port), /^Error: Redis cannot be reached \(.*timeout/i);
});
