import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { makeFleet } from '../../bench/harness/fleet.ts';
import { metricsOf } from '../../bench/harness/metrics.ts';
import type { OperatorAccess, RunningSide } from '../../bench/harness/running-side.ts';
import { startSide } from '../../bench/harness/side.ts';
import { callAll } from '../../bench/load/http-calls.ts';
import { sendRounds } from './send-rounds.ts';

const SENT_BY_EACH = 20;
const WAITING_BY_EACH = 18;
const FLEET = {
  tenants: 2,
  customers: SENT_BY_EACH + WAITING_BY_EACH + 1,
  isConnected: true,
  isPaused: false,
};
/** Shops that come first. After them all that shops share is in memory, and the code is compiled. */
const WARM_SHOPS_PER_TENANT = 30;
const SHOPS_PER_TENANT = 200;
/** Fleets that are measured, one after the other. */
const FLEETS = 5;
/** Messages go out at once, which only a network on this machine may be sent; the one in memory is. */
const NO_GAP = { SEND_GAP_MS: '1-1', MSGAPP_SOCKET_URL: 'ws://127.0.0.1:9/' };

/**
 * Without optimised code, which V8 makes for as long as there are calls, and which would count as what these shops
 * keep.
 */
const NODE_FLAGS = ['--expose-gc', '--no-opt'];

/** Bytes of heap that are left after full collections. */
export interface KeptHeap {
  readonly ofConnectedShop: number;
  /** The bytes of a shop that has sent 20 messages. */
  readonly ofShopThatSent: number;
  readonly ofWaitingMessage: number;
}

/** Counts what shops and messages keep, over four hundred and seven thousand of them. */
export async function keptHeap(): Promise<KeptHeap> {
  const directory = mkdtempSync(join(tmpdir(), 'kept-heap-'));
  const fleet = { ...FLEET, shopsPerTenant: WARM_SHOPS_PER_TENANT };
  const options = { fleet, nodeFlags: NODE_FLAGS, environment: NO_GAP, directory } as const;
  const side = await startSide('service', { ...options, appendfsync: 'everysec' });
  try {
    return await counted(side, side.admin as OperatorAccess);
  } finally {
    await side.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Measures several fleets, each on top of the one before. Shared memory grows in jumps, so the middle one counts. */
async function counted(side: RunningSide, admin: OperatorAccess): Promise<KeptHeap> {
  const warm = await sendRounds(side, { from: 0, to: SENT_BY_EACH });
  const fleets: KeptHeap[] = [];
  for (let sentCount = warm.length; fleets.length < FLEETS; ) {
    const { kept, count } = await countedFleet(side, admin, sentCount);
    fleets.push(kept);
    sentCount += count;
  }
  return {
    ofConnectedShop: median(fleets.map(({ ofConnectedShop }) => ofConnectedShop)),
    ofShopThatSent: median(fleets.map(({ ofShopThatSent }) => ofShopThatSent)),
    ofWaitingMessage: median(fleets.map(({ ofWaitingMessage }) => ofWaitingMessage)),
  };
}

/** Measures the shops of new tenants. `before` is the number of messages that other shops sent. */
async function countedFleet(
  side: RunningSide,
  admin: OperatorAccess,
  before: number,
): Promise<{ readonly kept: KeptHeap; readonly count: number }> {
  const [port = 0] = side.ports;
  await acknowledged(admin, before);
  const none = await heapBytes(side);
  const size = { ...FLEET, shopsPerTenant: SHOPS_PER_TENANT };
  const { shops } = await makeFleet({ admin, api: { port }, size });
  const connected = await heapBytes(side);
  const sent = await sendRounds(side, { from: 0, to: SENT_BY_EACH, shops });
  await acknowledged(admin, before + sent.length);
  const afterSends = await heapBytes(side);
  const paths = shops.map(({ id, tenantId }) => `/admin/v1/actors/${tenantId}/${id}/pause`);
  const pause = paths.map((path) => ({ method: 'POST', path, token: admin.token, body: {} }));
  await callAll(admin.port, pause);
  await sendRounds(side, { from: SENT_BY_EACH, to: SENT_BY_EACH + 1, shops });
  const oneWaits = await heapBytes(side);
  const rounds = { from: SENT_BY_EACH + 1, to: SENT_BY_EACH + 1 + WAITING_BY_EACH };
  const waiting = await sendRounds(side, { ...rounds, shops });
  const allWait = await heapBytes(side);
  return {
    count: sent.length,
    kept: {
      ofConnectedShop: Math.round((connected - none) / shops.length),
      ofShopThatSent: Math.round((afterSends - none) / shops.length),
      ofWaitingMessage: Math.round((allWait - oneWaits) / waiting.length),
    },
  };
}

/** Resolves when the network has accepted this number of messages in all. */
async function acknowledged(admin: OperatorAccess, count: number): Promise<void> {
  const name = 'msgapi_session_outcomes_total{outcome="acknowledged",code=""}';
  while (((await metricsOf(admin)).get(name) ?? 0) < count) await nextTurn();
}

/** Returns the heap once another full collection frees nothing more. */
async function heapBytes(side: RunningSide): Promise<number> {
  for (let least = Number.POSITIVE_INFINITY; ; ) {
    const { heapBytes: now } = await side.look();
    if (now >= least) return least;
    least = now;
  }
}

/** Returns the middle one of an odd number of values. */
function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) / 2] ?? Number.NaN;
}
