import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { BaileysHost } from '../../../../actors/sessions/main-thread/baileys-host.ts';
import type { SessionHost } from '../../../../actors/sessions/session-host.ts';
import { systemClock } from '../../../../runtime/clock.ts';
import { type RuntimeNode, startNode } from '../../../../runtime/node/node.ts';
import { systemRandom } from '../../../../runtime/random.ts';
import { type Simulator, startSimulator } from '../../../../simulator/simulator.ts';
import { TEST_CIPHERS } from '../../../runtime/test-ciphers.ts';
import { type RedisServer, startRedisServer } from '../../../testbed/redis-server.ts';
import { simulatorControl } from '../../../testbed/simulator-control.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { HOST_SETTINGS } from '../host-settings.ts';
import { SessionLog } from '../session-log.ts';

const PERSON = '+33622222222';
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

let redis: RedisServer;
let simulator: Simulator;
let dataDir: string;

before(async () => {
  redis = await startRedisServer({ appendfsync: 'always' });
  dataDir = mkdtempSync(join(tmpdir(), 'session-redis-'));
  simulator = await startSimulator({ port: 0, dataDir });
});

after(async () => {
  await simulator.close();
  await redis.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function start(
  credentialsKeys: readonly Buffer[],
): Promise<{ node: RuntimeNode; host: SessionHost; events: SessionLog }> {
  const events = new SessionLog();
  const node = await startNode({
    redisUrl: redis.url,
    nodeId: 'one',
    clock: systemClock,
    random: systemRandom,
    log,
    ...TEST_CIPHERS,
  });
  await node.run();
  const host = new BaileysHost({
    store: node.store,
    clock: systemClock,
    random: systemRandom,
    log,
    listener: events.listener,
    credentialsKeys,
    socketUrl: simulator.chatUrl,
    noiseRootKey: Buffer.from(simulator.noiseRootKey, 'base64'),
    ...HOST_SETTINGS,
    timing: { firstSendAfterMs: 20, composeFloorMs: 5 },
  });
  await until('a worker is ready', async () => host.isAvailable());
  return { node, host, events };
}

test('on the real store: paired, sent, answered, resumed under a new key, and nothing of it readable on disk', async (context) => {
  const control = simulatorControl(simulator.url);
  const shop = newShop();
  const [oldBytes, freshBytes] = [randomBytes(32), randomBytes(32)];
  const first = await start([oldBytes]);
  first.host.open(shop, { generation: 1 });
  await control.scan((await first.events.next(shop, 'session.qr')).qr, SHOP_PHONE);
  await first.events.next(shop, 'session.closed');
  first.host.open(shop, { generation: 2 });
  await first.events.next(shop, 'session.connected');
  const order = textOrder('a text nobody else may read', { deadlineMs: 10_000 });
  first.host.order(shop, { type: 'prepare', order });
  const { writes } = await first.events.next(shop, 'session.prepared');
  await first.node.store.commit(shop.shard, writes);
  first.host.order(shop, { type: 'transmit', messageId: order.messageId });
  assert.equal((await first.events.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  await first.host.stop();
  await first.node.stop();

  const second = await start([freshBytes, oldBytes]);
  context.after(async () => {
    await second.host.stop();
    await second.node.stop();
  });
  second.host.open(shop, { generation: 3 });
  await second.events.next(shop, 'session.connected');
  const written = control.write(PERSON, { to: SHOP_PHONE, text: 'STOP' });
  const inbound = await second.events.next(shop, 'session.inbound');
  assert.deepEqual([inbound.from, inbound.text], [PERSON, 'STOP']);
  second.host.order(shop, { type: 'confirm', token: inbound.token });
  assert.equal((await written).delivered, true);
  assert.deepEqual(
    (await control.inbox(PERSON)).items.map(({ text }) => text),
    ['a text nobody else may read'],
  );
  const disk = filesUnder(join(redis.socketPath, '..')).map((path) => readFileSync(path, 'latin1'));
  assert.ok(disk.some((content) => content.includes(`${shop.shopId}:credentials`)));
  for (const secret of ['nobody else may read', 'noiseKey', '"private"', 'chainKey'])
    assert.ok(!disk.some((content) => content.includes(secret)), secret);
});

function filesUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
