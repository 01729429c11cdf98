import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { connectShop, untilEnded, untilStatus } from '../e2e/stack/shop-steps.ts';
import { pause } from '../testbed/waiting.ts';
import { attachmentHost, sendAttachment } from './attachments.ts';
import { allConnected, type ChaosShop, nextPhone, openShops } from './chaos-shops.ts';
import { type Fault, homeOf, within } from './scenario.ts';

/** A name server that hears every question and answers none. */
export interface MuteNameServer {
  /** The address in the form of `MEDIA_NAME_SERVERS`. */
  readonly address: string;
  /** How many questions it heard. */
  asked(): number;
  close(): void;
}

/** Starts one at a port of the system's choice. */
export async function muteNameServer(): Promise<MuteNameServer> {
  let asked = 0;
  const socket = createSocket('udp4', () => {
    asked += 1;
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const address = `127.0.0.1:${socket.address().port}`;
  return { address, asked: () => asked, close: () => void socket.close() };
}

const TROUBLED_SHOPS = 4;
const MESSAGES_PER_SHOP = 2;
/**
 * Composing, the gap and the upload. A name server is given up after 2 s, and several names wait one behind the other.
 */
const OTHERS_SEND_MS = 5_000;
/** Three nodes, a simulator and all callers share the machine; a look-up that were waited for takes 2,000 ms. */
const OTHERS_P99_MS = 300;
const RECOVERY_MS = 15_000;
const READ_EVERY_MS = 20;

/**
 * All shops of one tenant send attachments from names whose server never answers. Another tenant of the same node sends
 * attachments meanwhile, and reads. All nodes of the fleet ask `nameServer`.
 */
export function namesHang(nameServer: MuteNameServer): Fault {
  return {
    name: 'name resolution hangs for one tenant',
    async inflict(run) {
      const { fleet } = run;
      const troubled = await openTroubledShops(fleet);
      const otherShop = await openNeighbour(fleet, troubled);
      const host = await attachmentHost();
      try {
        const before = nameServer.asked();
        const startedMs = performance.now();
        const messages = await Promise.all(
          troubled.flatMap((shop) =>
            shop.freshRecipients
              .splice(0, MESSAGES_PER_SHOP)
              .map((to) => sendAttachment(shop, { to, url: `http://mute-${to.slice(1)}.test/file.pdf` })),
          ),
        );
        const ends = Promise.all(messages.map((id) => untilEnded(troubled[0], id)));
        const seen = await watch(otherShop, { url: host.url, until: ends });
        const ended = await ends;
        const endedMs = performance.now();
        assert.deepEqual(new Set(ended.map(({ reason }) => reason)), new Set(['MEDIA_UNAVAILABLE']));
        const asked = nameServer.asked() - before;
        assert.ok(asked >= messages.length, `${asked} questions for ${messages.length} names`);
        within(run, OTHERS_SEND_MS, 'an attachment of another tenant', seen.slowestSendMs);
        within(run, OTHERS_P99_MS, 'GET /me of another tenant (p99)', seen.p99Ms);
        await allConnected([...run.shops, ...troubled]);
        const recoveredMs = performance.now() - endedMs;
        within(run, RECOVERY_MS, 'going on after names hung', recoveredMs);
        return { recoveredMs, note: noteOf({ asked, hungMs: endedMs - startedMs, ...seen }) };
      } finally {
        host.close();
      }
    },
  };
}

/** Shops of one tenant, all connected. */
async function openTroubledShops(fleet: Fleet): Promise<readonly [ChaosShop, ...ChaosShop[]]> {
  const [first] = await openShops(fleet, 1);
  assert.ok(first);
  const moreShops: ChaosShop[] = [];
  for (let index = 1; index < TROUBLED_SHOPS; index += 1) {
    const { data } = await first.api.post('/shops', { name: `Troubled ${index}` });
    const shop = {
      ...first,
      id: String(data.id),
      phone: nextPhone(),
      freshRecipients: first.freshRecipients.splice(0, MESSAGES_PER_SHOP),
    };
    await connectShop({ api: shop.api, network: fleet.network }, shop.id, shop.phone);
    moreShops.push(shop);
  }
  return [first, ...moreShops];
}

/** Tenants are opened until one lives on the same node. */
async function openNeighbour(fleet: Fleet, [troubled]: readonly [ChaosShop, ...ChaosShop[]]) {
  for (let tries = 0; tries < 30; tries += 1) {
    const [shop] = await openShops(fleet, 1);
    if (shop && (await homeOf(fleet, shop)) === (await homeOf(fleet, troubled))) return shop;
  }
  throw new Error('no tenant of thirty came to live on the same node');
}

/** Measures a tenant that reads, and sends attachments from an address that needs no name server. */
async function watch(
  shop: ChaosShop,
  { url, until: ends }: { readonly url: string; readonly until: Promise<unknown> },
): Promise<{ readonly slowestSendMs: number; readonly sends: number; readonly p99Ms: number }> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  ends.then(over, over);
  const sendsMs: number[] = [];
  const send = async (): Promise<void> => {
    while (!isOver) {
      const [to] = shop.freshRecipients.splice(0, 1);
      if (to === undefined) return;
      const startedMs = performance.now();
      await untilStatus(shop, await sendAttachment(shop, { to, url }), 'sent');
      sendsMs.push(performance.now() - startedMs);
    }
  };
  const readsMs: number[] = [];
  const read = async (): Promise<void> => {
    while (!isOver) {
      const startedMs = performance.now();
      assert.equal((await shop.api.get('/me')).status, 200);
      readsMs.push(performance.now() - startedMs);
      await pause(READ_EVERY_MS);
    }
  };
  await Promise.all([send(), read()]);
  readsMs.sort((one, another) => one - another);
  return {
    slowestSendMs: Math.max(...sendsMs),
    sends: sendsMs.length,
    p99Ms: readsMs[Math.floor(readsMs.length * 0.99)] ?? Number.NaN,
  };
}

function noteOf(seen: Readonly<Record<'asked' | 'hungMs' | 'sends' | 'slowestSendMs' | 'p99Ms', number>>) {
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  return [
    `${seen.asked} questions unanswered in ${seconds(seen.hungMs)}`,
    `${seen.sends} attachments of another tenant sent, in ${seconds(seen.slowestSendMs)} at most`,
    `its GET /me p99 ${Math.round(seen.p99Ms)} ms`,
  ].join('; ');
}
