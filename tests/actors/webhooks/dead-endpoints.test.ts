/**
 * Tenants with endpoints that never answer, before a real HTTPS server. They delay no one: a tenant with a thousand of
 * them not even itself.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { nameLookup, type ResolveAll } from '../../../actors/outbound/name-lookup.ts';
import type {
  WebhookProgress,
  WebhookRecord,
} from '../../../actors/tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { SLOW_MS } from '../../../actors/webhooks/endpoint-attempts.ts';
import { makeSecret } from '../../../actors/webhooks/signature.ts';
import { WebhookPump, type WebhookPumpOptions } from '../../../actors/webhooks/webhook-pump.ts';
import { secretUse } from '../../../actors/webhooks/webhook-secrets.ts';
import { systemRandom as random } from '../../../runtime/random.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { createCertificate } from '../../../simulator/media/media-certificate.ts';
import { plainStore } from '../../http/service-fixture.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { listening } from '../../testbed/listening.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { type RedisServer, startRedisServer } from '../../testbed/redis-server.ts';
import { confirmedReads } from '../events/confirmed-reads.ts';
import { webhookRecord } from './endpoint-world.ts';

const DEAD = 1_000;
/** Connections that one tenant's slow endpoints have at a time. */
const SHARE = 16;
const loading = Symbol('loading');
/** A clock that stands still while an endpoint connects, so a busy machine makes no endpoint look slow. */
const clock = new FakeClock();
const cipher = textCipher([Buffer.alloc(32, 1)], 'webhooks');
const [victim, other] = ['66b1f0a2c3d4e5f607182901', '66b1f0a2c3d4e5f607182902'] as const;

/** The progress of an endpoint that is known to be slow. */
const FAILING = JSON.stringify({
  cursor: '0-0',
  retries: [],
  dead: [],
  failingSinceMs: clock.wallMs(),
  heldUntilMs: null,
  countedForMs: 0,
} satisfies WebhookProgress);

let redisServer: RedisServer;
let redis: Redis;
let server: Server;
let url: string;
let ca: string;
let pump: WebhookPump;
/** Requests that are held open now, by path, and the most of them at a time. `changed` is called at each change. */
const held = new Map<string, number>();
let mostHeld = 0;
const answered = new Map<string, number>();
let changed: () => void = () => undefined;

before(async () => {
  redisServer = await startRedisServer();
  redis = new Redis(redisServer.url);
  const certificate = createCertificate();
  server = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    const path = request.url ?? '';
    request.resume();
    if (path.startsWith('/dead')) {
      hold(path, 1);
      response.on('close', () => hold(path, -1));
    } else {
      answered.set(path, (answered.get(path) ?? 0) + 1);
      response.writeHead(204).end();
    }
    changed();
  });
  url = `https://localhost:${await listening(server)}`;
  ({ ca } = certificate);
  pump = newPump(plainStore(redis), nameLookup([]));
});
after(async () => {
  for (const tenantId of [victim, other]) pump?.stop(tenantId);
  server?.closeAllConnections();
  server?.close();
  redis?.disconnect();
  await redisServer?.stop();
});

function newPump(store: WebhookPumpOptions['store'], resolve: ResolveAll): WebhookPump {
  return new WebhookPump({
    // The result of a try does not matter here: a batch goes out once.
    actors: { ask: async <Reply>() => ({ ok: true, value: true }) as Reply },
    store,
    inbound: { eventOf: async () => undefined },
    messages: { message: () => Promise.reject(new Error('there are no messages')) },
    clock,
    random,
    log: new QuietLog(),
    cipher,
    delivery: { guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }), resolve, ca },
  });
}

function hold(path: string, amount: number): void {
  const now = (held.get(path) ?? 0) + amount;
  held.set(path, now);
  mostHeld = Math.max(now, mostHeld);
}

async function until(fits: () => boolean): Promise<void> {
  while (!fits()) {
    await new Promise<void>((resolve) => {
      changed = resolve;
    });
  }
}

function endpoint(tenantId: string, id: string, path: string): [string, WebhookRecord] {
  const secret = cipher.seal(secretUse(tenantId, id), makeSecret());
  return [id, webhookRecord({ id, url: `${url}${path}`, secret })];
}

test('a thousand dead endpoints delay neither other tenants nor those of their own tenant that answer', {
  timeout: 100_000,
}, async () => {
  for (const tenantId of [victim, other]) {
    const { events } = tenantKeys(tenantId);
    for (let event = 0; event < 5; event += 1)
      await redis.xadd(events, '*', 't', 'queue.resumed', 's', 'shop', 'd', '{}');
  }
  const dead = Array.from({ length: DEAD }, (_, n) => endpoint(victim, `dead-${n}`, '/dead'));
  const progress = dead.flatMap(([id]) => [id, FAILING]);
  await redis.hset(tenantKeys(victim).webhookProgress, ...progress);
  pump.sync(victim, new Map(dead), loading);
  await until(() => held.get('/dead') === SHARE);
  // All of them wait in front of what comes now.
  pump.sync(victim, new Map([...dead, endpoint(victim, 'alive', '/own')]), loading);
  pump.sync(other, new Map([endpoint(other, 'alive', '/other')]), loading);
  await until(() => answered.get('/own') === 5 && answered.get('/other') === 5);
  const [, webhook] = endpoint(victim, 'asked', '/tested');
  assert.deepEqual(await pump.send(victim, webhook, { id: 'test', body: '{}' }), {
    status: 204,
    error: null,
    holdMs: null,
  });
  // One that is given up may still be open when the next one comes.
  assert.ok(mostHeld <= 2 * SHARE, `${mostHeld} at a time`);
});

test('endpoints that turn out to be dead delay a new one for no longer than it takes to see it', {
  timeout: 100_000,
}, async () => {
  const tenantId = '66b1f0a2c3d4e5f607182903';
  const { events } = tenantKeys(tenantId);
  for (let event = 0; event < 5; event += 1)
    await redis.xadd(events, '*', 't', 'queue.resumed', 's', 'shop', 'd', '{}');
  const dead = Array.from({ length: 3 * SHARE }, (_, n) => endpoint(tenantId, `dead-${n}`, '/dead-too'));
  pump.sync(tenantId, new Map([...dead, endpoint(tenantId, 'alive', '/among-dead')]), loading);
  for (let openCount = SHARE; openCount <= dead.length; openCount += SHARE) {
    await until(() => held.get('/dead-too') === openCount);
    assert.equal(answered.get('/among-dead'), undefined);
    await clock.advance(SLOW_MS);
  }
  await until(() => answered.get('/among-dead') === 5);
  // None of them was given up yet, and each was tried with one event. Those that are known to be slow share their
  // slots.
  const open = held.get('/dead-too') ?? 0;
  assert.ok(open >= dead.length && open <= dead.length + SHARE, `${open} at a time`);
  pump.stop(tenantId);
});

test('endpoints that hang, of more tenants than a node has connections for, leave connections for those that answer', {
  timeout: 100_000,
}, async () => {
  const tenants = Array.from({ length: 71 }, (_, index) =>
    (0x66b1f0a2c3d4n + BigInt(index)).toString(16).padEnd(24, '0'),
  );
  const [quick = '', ...slow] = tenants;
  // One event each. A store that answers at once has all attempts ask for their connections in the same turn.
  const entry = ['0-1', ['t', 'queue.resumed', 's', 'shop', 'd', '{}']];
  const store = confirmedReads(([command, , field]) => {
    if (command === 'HMGET') return [String(field).startsWith('hangs') ? FAILING : null];
    return field === '(0-0' || field === '-' ? [entry] : [];
  });
  let hanging = 0;
  let givenUp = 0;
  const many = newPump(store, (hostname, signal) => {
    if (hostname === 'localhost') return nameLookup([])(hostname, signal);
    hanging += 1;
    return new Promise((_, fail) => {
      signal.addEventListener('abort', () => {
        givenUp += 1;
        fail(signal.reason);
      });
    });
  });
  for (const tenantId of slow) {
    const hangs = Array.from({ length: SHARE }, (_, n) => endpoint(tenantId, `hangs-${n}`, ''));
    many.sync(
      tenantId,
      new Map(hangs.map(([id, hook]) => [id, { ...hook, url: 'https://hangs/' }])),
      loading,
    );
  }
  await nextTurn();
  assert.ok(hanging >= 500, `${hanging} hang`);
  many.sync(quick, new Map([endpoint(quick, 'quick', '/quick')]), loading);
  await until(() => answered.get('/quick') === 1);
  assert.equal(givenUp, 0, 'it waited for one that hangs');
  for (const tenantId of tenants) many.stop(tenantId);
});
