import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { WASocket } from '@whiskeysockets/baileys';
import { credentialCiphers } from '../../../actors/sessions/credential-cipher.ts';
import { DEFAULT_SESSION_TIMING } from '../../../actors/sessions/session-timing.ts';
import { OpeningWatch } from '../../../actors/sessions/worker-thread/connection/opening-watch.ts';
import { LiveSession } from '../../../actors/sessions/worker-thread/live-session.ts';
import {
  type MediaEnvironment,
  newShopMemory,
  type SessionEnvironment,
} from '../../../actors/sessions/worker-thread/shared/session-environment.ts';
import { SealedCache } from '../../../actors/sessions/worker-thread/store/sealed-cache.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { deferred } from '../../testbed/deferred.ts';
import { fakeOf } from '../../testbed/fake-of.ts';

/** The most garbage collections that the test runs until the socket is gone. */
const COLLECTIONS = 20;

/** Returns a port of loopback on which nobody listens. */
async function refusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

test('a session that has ended keeps nothing of its client, for the shop may keep the session for months', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let socket: WeakRef<WASocket> | undefined;
  const { follow } = OpeningWatch.prototype;
  OpeningWatch.prototype.follow = function (this: OpeningWatch, followed: WASocket): void {
    socket = new WeakRef(followed);
    follow.call(this, followed);
  };
  const closed = deferred();
  const session = new LiveSession(
    {
      environment: fakeOf<SessionEnvironment>({
        socketUrl: `ws://127.0.0.1:${await refusedPort()}/ws/chat`,
        deviceName: 'Test',
        media: fakeOf<MediaEnvironment>({}),
        timing: DEFAULT_SESSION_TIMING,
        clock: systemClock,
        ciphers: credentialCiphers([randomBytes(32)]),
        sealedCache: new SealedCache(1024),
        ask: async (_shop, request) =>
          request.kind === 'read'
            ? { kind: 'values', values: request.fields.map(() => null) }
            : { kind: 'done' },
        post: (message) =>
          void (message.kind === 'event' && message.event.type === 'session.closed' && closed.resolve()),
      }),
      memory: newShopMemory(systemClock),
      shop: { shard: 1, tenantId: 'tenant', shopId: 'shop' },
      opening: { generation: 1, clientVersion: undefined },
    },
    () => undefined,
  );
  await session.start();
  await closed.promise;
  assert.ok(socket !== undefined);
  for (let count = 0; socket.deref() !== undefined && count < COLLECTIONS; count += 1) {
    await nextTurn();
    collect();
  }
  assert.equal(socket.deref(), undefined);
  // Until here the session is reachable, so it is not collected.
  await session.close();
});
