/**
 * Checks what a session with production's configuration downloads by itself, when its own account's devices ask it to.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { createDeflate } from 'node:zlib';
import { proto } from '@whiskeysockets/baileys';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { listening } from '../../../testbed/listening.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const MIB = 1024 * 1024;

type Notice = proto.Message.IHistorySyncNotification;

function historyMessage(notice: Notice): Uint8Array {
  const { INITIAL_BOOTSTRAP } = proto.HistorySync.HistorySyncType;
  const type = proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION;
  const historySyncNotification = { syncType: INITIAL_BOOTSTRAP, chunkOrder: 2, progress: 50, ...notice };
  return proto.Message.encode({ protocolMessage: { type, historySyncNotification } }).finish();
}

/** Returns a compressed message that is one field of this number of zeros. */
async function bomb(bytes: number): Promise<Buffer> {
  const length = Buffer.from([0x4a, 0, 0, 0, 0, 0]);
  for (let index = 1, left = bytes; index < length.length; index += 1, left = Math.floor(left / 128))
    length[index] = (left % 128) + (index === 5 ? 0 : 128);
  const deflate = createDeflate({ level: 9 });
  const zeros = Buffer.alloc(MIB);
  const written = (async () => {
    deflate.write(length);
    for (let sent = 0; sent < bytes; sent += MIB) {
      if (!deflate.write(zeros)) await new Promise((resolve) => deflate.once('drain', resolve));
    }
    deflate.end();
  })();
  const chunks: Buffer[] = [];
  for await (const chunk of deflate) chunks.push(chunk as Buffer);
  await written;
  return Buffer.concat(chunks);
}

const logged = (network: SimulatedNetwork, words: string): Promise<unknown> =>
  until(words, async () => network.logged.some((line) => line.includes(words)));

async function stillReceives(network: SimulatedNetwork, shop: SessionAddress): Promise<void> {
  const written = network.write(shop, PERSON, 'still there?');
  const inbound = await network.log.next(shop, 'session.inbound');
  network.host.order(shop, { type: 'confirm', token: inbound.token });
  assert.equal(await written, true);
}

test('a message of an own device makes a session connect to no host but the network’s own', async (context) => {
  const { network, shop } = await pairedShop(context);
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listening(listener);
  context.after(() => listener.close());
  const sha256 = Buffer.alloc(32, 1);
  // The text before the address becomes a user name.
  const directPath = `@127.0.0.1:${port}/file`;
  const notice = { directPath, mediaKey: sha256, fileSha256: sha256, fileEncSha256: sha256 };
  await network.control.sendOwn(SHOP_PHONE, historyMessage(notice));
  await logged(network, 'data of the account was not taken');
  assert.match(network.logged.join('\n'), /the file has no valid path/);
  await stillReceives(network, shop);
  assert.equal(connections, 0);
});

test('a history that inflates to 400 MiB takes no memory, and the session stays open', async (context) => {
  const { network, shop } = await pairedShop(context);
  const payload = await bomb(400 * MIB);
  const before = process.resourceUsage().maxRSS;
  const notice = { initialHistBootstrapInlinePayload: payload };
  await network.control.sendOwn(SHOP_PHONE, historyMessage(notice));
  await logged(network, 'data of the account was not taken');
  const grownMiB = (process.resourceUsage().maxRSS - before) / 1024;
  assert.match(network.logged.join('\n'), /the history is too large/);
  assert.ok(grownMiB < 100, `it took ${grownMiB} MiB`);
  await stillReceives(network, shop);
});

test('the ids and the tokens of a history of 10,000 contacts are kept', async (context) => {
  const { network, shop } = await pairedShop(context);
  const before = process.memoryUsage().rss;
  const start = performance.now();
  await network.control.sendHistory(SHOP_PHONE, { mappings: 10_000, tokens: 1_000 });
  await logged(network, '"mappings":10000,"tokens":1000');
  context.diagnostic(
    `${Math.round(performance.now() - start)} ms, ${Math.round((process.memoryUsage().rss - before) / MIB)} MiB more`,
  );
  const fields = [...network.store.hashes.values()].flatMap((hash) => [...hash.keys()]);
  assert.equal(fields.filter((field) => /^lid-mapping\/337\d{8}$/.test(field)).length, 10_000);
  assert.equal(fields.filter((field) => /^tctoken\/\d+@lid$/.test(field)).length, 1_000);
  await stillReceives(network, shop);
});
