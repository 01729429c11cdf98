import type { Bench, BenchContext, Figures, Run } from '../harness/bench.ts';
import { connectAll } from '../harness/fleet.ts';
import { load } from '../harness/load.ts';
import { residentMiB } from '../harness/process-usage.ts';
import type { RunningSide } from '../harness/running-side.ts';
import { sessionsBack } from '../harness/sessions-back.ts';
import { startSide } from '../harness/side.ts';
import { callAll } from '../load/http-calls.ts';
import type { BenchShop } from '../load/load-plan.ts';

/** Both sides have the same number of tenants, all of them active. So they differ in the shops without requests. */
const TENANTS = 200;
const ACTIVE_SHOPS = 1_000;
/**
 * Shops that are asked once each after the restart, so each is loaded from Redis. Shops of tenants without a call come
 * first.
 */
const COLD_SHOPS = 2_000;
/** The history of a cold shop: a session, and messages that were sent, so that there is a ledger to load. */
const MESSAGES_BEFORE = 20;
/** Requests a second while the sessions come back. */
const RATE_MEANWHILE = 200;
/** Messages go out at once, which only a network on this machine may be sent; the one in memory is. */
const NO_GAP = { SEND_GAP_MS: '1-1', MSGAPP_SOCKET_URL: 'ws://127.0.0.1:9/' };

/**
 * The cost of shops that are known and not active: 1,000 connected shops among `--shops=` known ones, after a restart.
 * How the sessions come back and what requests meet meanwhile, the memory, and how quickly a cold shop answers.
 */
export const knownShops: Bench = {
  name: 'known',
  title: '1,000 connected shops among few and among many known ones, after a restart',
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    for (const count of [ACTIVE_SHOPS, context.setting('shops', 100_000)]) {
      const side = await startSide('service', {
        directory: context.directory,
        build: context.build,
        appendfsync: 'everysec',
        nodeFlags: ['--expose-gc'],
        environment: NO_GAP,
        fleet: {
          tenants: TENANTS,
          shopsPerTenant: Math.ceil(count / TENANTS),
          customers: 100,
          isConnected: false,
          isPaused: false,
        },
        progress: (text) => context.progress(`known: ${text}`),
      });
      try {
        const figures = await measure(side, context);
        runs.push({ side: `${count} known`, round: 1, figures });
      } finally {
        await side.stop();
      }
    }
    return runs;
  },
};

async function measure(side: RunningSide, context: BenchContext): Promise<Figures> {
  const { shops } = side.fleet;
  const active = shops.slice(0, ACTIVE_SHOPS);
  const cold = shops.slice(ACTIVE_SHOPS, ACTIVE_SHOPS + COLD_SHOPS);
  context.progress('known: connecting');
  await connectAll(portOf(side), active);
  if (cold.length > 0) await giveHistory(side, cold);
  context.progress('known: restarting');
  const readyMs = await side.restart();
  const readyAtMs = Date.now();
  const seconds = Math.max(3, context.seconds);
  const meanwhile = await load(
    side,
    { kind: 'me', keys: side.fleet.keys.map(({ key }) => key) },
    { seconds, warmupMs: 0, ratePerSecond: RATE_MEANWHILE },
  );
  const connectedAtMs = await sessionsBack(side, active.length);
  await load(side, { kind: 'channel', shops: active }, { seconds: 1, warmupMs: 0 });
  const { heapBytes } = await side.look();
  const figures: Figures = {
    readyMs,
    lastSessionMs: Math.max(...connectedAtMs) - readyAtMs,
    sessionsIn100Ms: mostWithin(connectedAtMs, 100),
    meanwhileP50Ms: meanwhile.latencyMs.p50,
    meanwhileP99Ms: meanwhile.latencyMs.p99,
    heapMiB: heapBytes / 2 ** 20,
    residentMiB: residentMiB(side.watch.server ?? 0),
    redisMiB: residentMiB(side.watch.redis ?? 0),
  };
  if (cold.length === 0) return figures;
  const { latencyMs } = await load(
    side,
    { kind: 'channel', shops: cold },
    { seconds: 60, warmupMs: 0, connections: 1, atMost: cold.length },
  );
  return { ...figures, coldP50Ms: latencyMs.p50, coldP99Ms: latencyMs.p99, coldMaxMs: latencyMs.max };
}

/** Connects the shops, has them send, and disconnects them. */
async function giveHistory(side: RunningSide, shops: readonly BenchShop[]): Promise<void> {
  const port = portOf(side);
  await connectAll(port, shops);
  for (let number = 0; number < MESSAGES_BEFORE; number += 1) {
    await callAll(
      port,
      shops.map(({ id, key }) => ({
        method: 'POST',
        path: `/api/v1/shops/${id}/messages`,
        token: key,
        body: { channel: 'msgapp', to: side.fleet.recipients[number], text: `Message ${number} to ${id}` },
      })),
    );
  }
  await callAll(
    port,
    shops.map(({ id, key }) => ({
      method: 'POST',
      path: `/api/v1/shops/${id}/channels/msgapp/disconnect`,
      token: key,
      body: {},
    })),
  );
}

function portOf({ ports }: RunningSide): number {
  return ports[0] ?? 0;
}

/** Returns the largest number of these times within a window of `windowMs`. */
function mostWithin(moments: readonly number[], windowMs: number): number {
  const sorted = [...moments].sort((left, right) => left - right);
  let most = 0;
  let from = 0;
  for (const [index, moment] of sorted.entries()) {
    while (moment - (sorted[from] ?? 0) >= windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
