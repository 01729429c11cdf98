/** How long an opening session waits for a network that takes long for each answer. */
import assert from 'node:assert/strict';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { SessionTiming } from '../../../../actors/sessions/session-timing.ts';
import { listening } from '../../../testbed/listening.ts';
import { newShop, pair, SHOP_PHONE } from '../conformance-network.ts';
import { type SimulatedNetwork, startSimulated } from '../simulated-network.ts';

/** At this delay, the six answers of an opening take longer together than the session waits for one answer. */
const ANSWER_MS = 700;
const CONNECT_MS = 3_000;
/** An opening whose answers come with that delay takes longer than this. */
const SHORT_OPENING_MS = 3_500;

/** A session whose line to the network is slow. */
class SlowLine {
  readonly shop = newShop();
  /** The delay of each piece of the network's answers. */
  lateMs = 0;
  /** The number of pieces after which nothing more comes. */
  piecesLeft = Number.POSITIVE_INFINITY;
  network!: SimulatedNetwork;
  #generation = 2;
  readonly #lines = new Set<Socket>();
  readonly #server: Server = createServer((client) => this.#join(client));

  static async start(timing: Partial<SessionTiming>): Promise<SlowLine> {
    const line = new SlowLine();
    const port = await listening(line.#server);
    line.network = await startSimulated({ socketUrl: `ws://127.0.0.1:${port}/ws/chat`, timing });
    after(() => line.#stop());
    await pair(line.network, line.shop);
    return line;
  }

  /** Cuts the line, and opens the session again. */
  async reopen(): Promise<void> {
    await this.network.control.fault(SHOP_PHONE, 'drop');
    await this.ended();
    this.#generation += 1;
    this.network.host.open(this.shop, { generation: this.#generation });
  }

  async opened(): Promise<void> {
    await this.network.log.next(
      this.shop,
      'session.connected',
      ({ generation }) => generation === this.#generation,
    );
  }

  async ended(): Promise<readonly [end: string, statusCode: number | undefined]> {
    const { end, statusCode } = await this.network.log.next(
      this.shop,
      'session.closed',
      ({ generation }) => generation === this.#generation,
    );
    return [end, statusCode];
  }

  #join(client: Socket): void {
    const server = createConnection(this.network.simulator.port, '127.0.0.1');
    for (const socket of [client, server]) {
      this.#lines.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.pipe(server);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    server.on('data', (bytes: Buffer) => {
      this.piecesLeft -= 1;
      // Timers of one length fire in the order in which they were set.
      if (this.piecesLeft >= 0) setTimeout(() => client.destroyed || client.write(bytes), this.lateMs);
    });
  }

  async #stop(): Promise<void> {
    await this.network.stop();
    this.#server.close();
    for (const socket of this.#lines) socket.destroy();
  }
}

test('a session opens as long as the network answers, and ends once the network stops in the middle', async () => {
  const line = await SlowLine.start({ connectMs: CONNECT_MS });
  line.lateMs = ANSWER_MS;
  await line.reopen();
  const beganMs = performance.now();
  await line.opened();
  assert.ok(performance.now() - beganMs > CONNECT_MS, 'it took no longer than one wait');
  line.lateMs = 0;
  line.piecesLeft = 3;
  await line.reopen();
  assert.deepEqual(await line.ended(), ['transient', 408]);
});

test('a session that does not open for long ends, though the network answers', async () => {
  const line = await SlowLine.start({ connectMs: CONNECT_MS, openingMs: SHORT_OPENING_MS });
  line.lateMs = ANSWER_MS;
  await line.reopen();
  assert.deepEqual(await line.ended(), ['transient', 408]);
});
