/**
 * A backup while nodes run, and a restore into another Redis, by the commands of docs/backup-and-restore.md. Changes
 * before the backup are there afterwards. Later ones are undone as that page describes.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { allConnected, type ChaosShop, openShops } from '../chaos/chaos-shops.ts';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { type RedisServer, startRedisServer } from '../testbed/redis-server.ts';
import { until } from '../testbed/waiting.ts';
import { linkedDevices } from './linked-devices.ts';
import { type SignedEndpoint, startSignedEndpoint } from './signed-endpoint.ts';

const page = readRepositoryFile('docs/backup-and-restore.md');
const [COPY_FILES = '', FROM_RDB = ''] = [...page.matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(
  ([, commands]) => commands,
);
const TO_RDB = /`(redis-cli [^`]*--rdb [^`]*)`/.exec(page)?.[1] ?? '';
const STOP_REDIS = /`(redis-cli [^`]* SHUTDOWN)`/.exec(page)?.[1] ?? '';

/** The history of a shop before and after the backup. */
interface Happened {
  readonly shop: ChaosShop;
  readonly early: Sent;
  readonly late: Sent;
  readonly stoppedEarly: string;
  readonly stoppedLate: string;
}

interface Sent {
  readonly id: string;
  readonly to: string;
}

let fleet: Fleet;
let endpoint: SignedEndpoint;
let backup: string;
let happened: readonly Happened[];
before(async () => {
  backup = mkdtempSync(join(tmpdir(), 'backup-'));
  endpoint = await startSignedEndpoint();
  fleet = await startFleet({ nodes: 2 });
  const [server] = fleet.servers;
  assert.ok(server);
  const shops = await openShops(fleet, 3);
  for (const { tenantId } of shops) await endpoint.open(fleet, tenantId);
  const early = await Promise.all(shops.map(async (shop) => [await send(shop), await stop(shop)] as const));
  // Messages are under way while the files are copied.
  const meanwhile = shops.map(send);
  await shell(COPY_FILES, server);
  await shell(TO_RDB, server);
  await Promise.all(meanwhile);
  happened = await Promise.all(
    shops.map(async (shop, index) => {
      const [sent, stopped] = early[index] ?? [await send(shop), ''];
      return {
        shop,
        early: sent,
        stoppedEarly: stopped,
        late: await send(shop),
        stoppedLate: await stop(shop),
      };
    }),
  );
});
after(async () => {
  await fleet?.stop();
  endpoint?.close();
  rmSync(backup, { recursive: true, force: true });
});

test('the copied files, in another Redis', () =>
  restored(async (server) => {
    await shell(
      `${STOP_REDIS}\nrm -r "$REDIS_DIR/appendonlydir"\ncp -a "$BACKUP/appendonlydir" "$REDIS_DIR/"`,
      server,
    );
  }));

test('the RDB file, in another Redis', () =>
  restored(async (server) => {
    await shell(`${STOP_REDIS}\n${FROM_RDB}`, server);
  }));

/** Stops the nodes, restores into a fresh Redis, starts the nodes on it and looks at what is there. */
async function restored(putBack: (server: RedisServer) => Promise<void>): Promise<void> {
  const server = await startRedisServer({ appendfsync: 'always' });
  try {
    for (const node of fleet.nodes) if (node.runs()) assert.equal(await node.end('SIGTERM'), 0);
    const links = await linkedDevices(fleet.network);
    await putBack(server);
    await server.restart();
    for (const { link } of fleet.nodes) link?.moveTo(server.socketPath);
    await Promise.all(fleet.nodes.map((node) => node.start()));
    await fleet.spread();
    await allConnected(happened.map(({ shop }) => shop));
    assert.deepEqual(await linkedDevices(fleet.network), links, 'a shop was linked again');
    for (const each of happened) await lookAt(each);
    assert.deepEqual(endpoint.forged, []);
    for (const node of fleet.nodes) assert.equal(await node.end('SIGTERM'), 0);
  } finally {
    await server.stop();
  }
}

async function lookAt({ shop, early, late, stoppedEarly, stoppedLate }: Happened): Promise<void> {
  const read = async ({ id }: Sent) => (await shop.api.get(`/messages/${id}`)).data.status;
  assert.deepEqual([await read(early), await read(late)], ['sent', undefined]);
  const ask = (to: string) => sendText(shop, shop.id, { to, text: 'Again', idempotencyKey: `again ${to}` });
  assert.equal((await ask(stoppedEarly)).error?.code, 'RECIPIENT_OPTED_OUT');
  assert.equal((await ask(stoppedLate)).status, 202, 'a STOP after the backup is forgotten');
  const repeated = await sendText(shop, shop.id, { to: early.to, text: early.to, idempotencyKey: early.to });
  assert.deepEqual([repeated.status, repeated.data.id], [200, early.id]);
  const again = await sendText(shop, shop.id, { to: late.to, text: late.to, idempotencyKey: late.to });
  assert.equal(again.status, 202, 'a key that was used after the backup sends again');
  const id = String(again.data.id);
  await untilStatus(shop, id, 'sent');
  await until('the endpoint is told', async () => endpoint.told.has(`message.sent ${id}`));
  const { items } = await fleet.network.inbox(early.to);
  assert.equal(items.length, 1, 'what was sent before the backup is not sent again');
}

/** Sends to a fresh customer under their number as the key, and waits until it is sent. */
async function send(shop: ChaosShop): Promise<Sent> {
  const to = shop.freshRecipients.pop() ?? '';
  const { data } = await sendText(shop, shop.id, { to, text: to, idempotencyKey: to });
  const id = String(data.id);
  await untilStatus(shop, id, 'sent');
  return { id, to };
}

/** A fresh customer writes STOP; their number. */
async function stop(shop: ChaosShop): Promise<string> {
  const sender = shop.freshRecipients.pop() ?? '';
  const { delivered } = await fleet.network.write(sender, { to: shop.phone, text: 'STOP', wait: true });
  assert.ok(delivered);
  return sender;
}

/** Runs commands of the page on a Redis. They stop at the first that fails; those without an address get its socket. */
async function shell(commands: string, { socketPath }: RedisServer): Promise<void> {
  assert.ok(commands.includes('redis-cli'), 'the page has no such commands any more');
  const script = [
    'set -e -o pipefail; SOCK=$1 REDIS_DIR=$2 BACKUP=$3',
    'redis-cli() { command redis-cli -s "$SOCK" "$@"; }',
    commands,
  ].join('\n');
  const words = ['-c', script, 'bash', socketPath, dirname(socketPath), backup];
  await promisify(execFile)('bash', words, { timeout: 60_000 });
}
