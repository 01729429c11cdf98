/** A network that takes long for each answer: an opening session ends only if the network sends nothing any more. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { newShop, pair, SHOP_PHONE } from './session-conformance.ts';
import { type SimulatedNetwork, startSimulated } from './simulated-network.ts';

/** An opening has six answers, which take longer together than the session waits for one. */
const ANSWER_MS = 700;
const CONNECT_MS = 3_000;
/** Longer than six of these answers take, and shorter than six slow ones. */
const OPENING_MS = 9_000;
const SLOW_ANSWER_MS = 2_000;

let network: SimulatedNetwork;
const shop = newShop();
let generation = 2;
/** What the network sends comes this much later. Nothing comes any more once so many pieces did. */
let lateMs = 0;
let piecesLeft = Number.POSITIVE_INFINITY;

const lines = new Set<Socket>();
const link = createServer((client) => {
  const server = createConnection(network.simulator.port, '127.0.0.1');
  for (const socket of [client, server]) {
    lines.add(socket);
    socket.on('error', () => socket.destroy());
  }
  client.pipe(server);
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
  server.on('data', (bytes: Buffer) => {
    piecesLeft -= 1;
    // Timers of one length come in their order.
    if (piecesLeft >= 0) setTimeout(() => client.destroyed || client.write(bytes), lateMs);
  });
});

before(async () => {
  link.listen(0, '127.0.0.1');
  await once(link, 'listening');
  const { port } = link.address() as AddressInfo;
  const socketUrl = `ws://127.0.0.1:${port}/ws/chat`;
  network = await startSimulated({ socketUrl, timing: { connectMs: CONNECT_MS, openingMs: OPENING_MS } });
  await pair(network, shop);
});
after(async () => {
  await network.stop();
  link.close();
  for (const line of lines) line.destroy();
});

/** Cuts the line, and opens the session again. */
async function reopen(): Promise<void> {
  await network.control.fault(SHOP_PHONE, 'drop');
  await network.log.next(shop, 'session.closed', (event) => event.generation === generation);
  generation += 1;
  network.host.open(shop, { generation });
}

test('a session whose opening takes long opens as long as the network answers', async () => {
  lateMs = ANSWER_MS;
  await reopen();
  const beganMs = performance.now();
  await network.log.next(shop, 'session.connected', (event) => event.generation === generation);
  assert.ok(performance.now() - beganMs > CONNECT_MS, 'it took no longer than one wait');
  lateMs = 0;
});

test('a session that does not open for long ends, though the network answers', async () => {
  lateMs = SLOW_ANSWER_MS;
  await reopen();
  const { end, statusCode } = await network.log.next(
    shop,
    'session.closed',
    (event) => event.generation === generation,
  );
  assert.deepEqual([end, statusCode], ['transient', 408]);
  lateMs = 0;
  generation += 1;
  network.host.open(shop, { generation });
  await network.log.next(shop, 'session.connected', (event) => event.generation === generation);
});

test('a session whose opening stops in the middle ends', async () => {
  piecesLeft = 3;
  await reopen();
  const { end, statusCode } = await network.log.next(
    shop,
    'session.closed',
    (event) => event.generation === generation,
  );
  assert.deepEqual([end, statusCode], ['transient', 408]);
});
