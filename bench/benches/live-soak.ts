import type { Bench, Figures, Run } from '../harness/bench.ts';
import { liveMemory } from '../harness/live-memory.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { cpuMs } from '../harness/process-usage.ts';
import { callAll } from '../load/http-calls.ts';
import { minuteOf, type Traffic } from './even-traffic.ts';
import { customer, liveShops, onLiveSide, orderText } from './live-shops.ts';

/** A shop paired today may send ten messages an hour and twenty a day (docs/contract.md, Messages to numbers). */
const SENDS_PER_SHOP_AND_HOUR = 9;
const SENDS_PER_SHOP = 19;

/** Customers write to shops, shops write to customers, and lines are cut, so that sessions come back. */
function trafficOf(
  side: LiveSide,
  shops: readonly LiveShop[],
  rates: { readonly sends: number; readonly inbound: number; readonly drops: number },
): Traffic[] {
  const shopAt = (turn: number): LiveShop => shops[turn % shops.length] as LiveShop;
  return [
    {
      perMinute: rates.sends,
      act: (turn) => callAll(side.apiPort, [orderText(shops, turn)]),
    },
    {
      perMinute: rates.inbound,
      act: (turn) =>
        side.network.write(customer(turn), { to: shopAt(turn).phone, text: `Question ${turn}`, wait: false }),
    },
    { perMinute: rates.drops, act: (turn) => cut(side, shopAt(turn * 7)) },
  ];
}

/** A shop that is coming back from the last cut has no line to cut. */
async function cut(side: LiveSide, { phone }: LiveShop): Promise<void> {
  const { items } = await side.network.sessions();
  if (items.some((session) => session.phone === phone && session.connected)) {
    await side.network.fault(phone, 'drop');
  }
}

async function figuresNow(side: LiveSide, before: { readonly cpuMs: number }): Promise<Figures> {
  const { server } = side.watch;
  const metrics = await side.metrics();
  const sum = (prefix: string): number =>
    [...metrics].reduce((total, [name, value]) => total + (name.startsWith(prefix) ? value : 0), 0);
  return {
    ...(await liveMemory(side)),
    cpuPercent: (cpuMs(server) - before.cpuMs) / 600,
    sent: sum('msgapi_session_outcomes_total{outcome="acknowledged"'),
    notAcknowledged:
      sum('msgapi_session_outcomes_total') - sum('msgapi_session_outcomes_total{outcome="acknowledged"'),
    received: sum('msgapi_session_received_total'),
    ends: sum('msgapi_session_ends_total'),
    connected: sum('msgapi_sessions{state="connected"'),
  };
}

/**
 * Measures if memory stays flat: `--minutes=30` with `--sessions=100`, `--inbound=120` messages and `--drops=12` lost
 * connections a minute.
 */
export const liveSoak: Bench = {
  name: 'live-soak',
  title: 'Live sessions sending, receiving and coming back, figures by minute',
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const minutes = context.setting('minutes', 30);
    const count = context.setting('sessions', 100);
    const allowed = Math.min(SENDS_PER_SHOP_AND_HOUR / 60, SENDS_PER_SHOP / minutes) * count;
    const rates = {
      sends: Math.floor(context.setting('sends', allowed)),
      inbound: context.setting('inbound', 120),
      drops: context.setting('drops', 12),
    };
    const { directory, build } = context;
    await onLiveSide({ directory, build, gapMs: '200-600' }, async (side) => {
      context.progress(`live-soak: pairing ${count} shops`);
      const shops = await liveShops(side, count);
      const traffic = trafficOf(side, shops, rates);
      for (let minute = 0; minute < minutes; minute += 1) {
        const before = { cpuMs: cpuMs(side.watch.server) };
        await minuteOf(traffic, minute);
        const figures = await figuresNow(side, before);
        runs.push({ side: `minute ${minute + 1}`, round: 1, figures });
        const { serverMiB = 0, mainHeapMiB = 0, workerHeapMiB = 0 } = figures;
        context.progress(
          `live-soak: minute ${minute + 1} of ${minutes}: ${serverMiB.toFixed(0)} MiB resident, ` +
            `heaps ${mainHeapMiB.toFixed(0)} and ${workerHeapMiB.toFixed(0)} MiB`,
        );
      }
    });
    return runs;
  },
};
