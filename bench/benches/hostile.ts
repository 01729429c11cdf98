import type { Bench, BenchContext, Figures, Run } from '../harness/bench.ts';
import { startHostile } from '../harness/load.ts';
import { residentMiB } from '../harness/process-usage.ts';
import { type RunningSide, startSide } from '../harness/side.ts';
import type { HostilePlan } from '../load/hostile-plan.ts';
import { fleetFor } from './compared.ts';
import { load } from './loads.ts';

const ME_PER_SECOND = 100;
const SENDS_PER_SECOND = 100;
const CONNECTIONS = 16;
const STRANGERS = 2_000;
/** What `bin/dev` gives its demo key; an operator may give a key as much. */
const CALLS_PER_MINUTE = 6_000;
/** Trouble begins before the measured part, and lasts longer. */
const LEAD_MS = 4_000;
const RECOVERY_MS = 12_000;

type Trouble = 'alone' | 'hostile tenant' | 'hostile stranger' | 'afterwards';
const TROUBLES: readonly Trouble[] = ['alone', 'hostile tenant', 'hostile stranger', 'afterwards'];

/**
 * What well-behaved tenants feel of one that uses all its key allows for the dearest calls, and of a stranger with 2,000
 * connections: p99 of `GET /me` and of sends, on schedule, and the server's memory. `…P99Ratio` is against `alone`; it
 * is to stay within 2.
 */
export const hostile: Bench = {
  name: 'hostile',
  title: `${ME_PER_SECOND} GET /me and ${SENDS_PER_SECOND} sends a second, beside a hostile tenant and ${STRANGERS} hostile connections`,
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const seconds = context.seconds + LEAD_MS / 1_000;
    for (let round = 1; round <= context.rounds; round += 1) {
      const side = await startSide('service', {
        directory: context.directory,
        // A third more, since the hostile tenant's shops take none.
        fleet: fleetFor({ messages: SENDS_PER_SECOND * seconds * TROUBLES.length * 1.34, held: true }),
        durability: 'everysec',
        progress: (text) => context.progress(`hostile: round ${round}, ${text}`),
      });
      try {
        runs.push(...(await measured(side, round, context)));
      } finally {
        await side.stop();
      }
    }
    return runs;
  },
};

async function measured(side: RunningSide, round: number, context: BenchContext): Promise<readonly Run[]> {
  const { keys, shops, recipients } = side.fleet;
  const [bad, ...good] = keys;
  const goodShops = shops.filter(({ tenantId }) => tenantId !== bad?.tenantId);
  const badShops = shops.filter(({ tenantId }) => tenantId === bad?.tenantId).map(({ id }) => id);
  const server = side.watch.server ?? process.pid;
  const [port = 0] = side.ports;
  const runs: Run[] = [];
  let alone: { readonly me: number; readonly send: number } | undefined;
  let made = 0;
  for (const trouble of TROUBLES) {
    context.progress(`hostile: round ${round}, ${trouble}`);
    if (trouble === 'afterwards') await new Promise((resolve) => setTimeout(resolve, RECOVERY_MS));
    const durationMs = LEAD_MS + context.seconds * 1_000 + 1_000;
    const plan = planOf(trouble, { port, key: bad?.key ?? '', shopIds: badShops, durationMs });
    const troubled = plan === undefined ? undefined : startHostile(plan);
    const rate = { seconds: context.seconds, warmupMs: LEAD_MS, connections: CONNECTIONS };
    const [me, send] = await Promise.all([
      load(side, { kind: 'me', keys: good.map(({ key }) => key) }, { ...rate, ratePerSecond: ME_PER_SECOND }),
      load(
        side,
        { kind: 'send', shops: goodShops, recipients, from: made, isUnbounded: false },
        { ...rate, ratePerSecond: SENDS_PER_SECOND },
      ),
    ]);
    made = send.made;
    const { requests = 0, ended = 0 } = (await troubled) ?? {};
    alone ??= { me: me.latencyMs.p99, send: send.latencyMs.p99 };
    const figures: Figures = {
      meP50Ms: me.latencyMs.p50,
      meP99Ms: me.latencyMs.p99,
      meP99Ratio: me.latencyMs.p99 / alone.me,
      sendP50Ms: send.latencyMs.p50,
      sendP99Ms: send.latencyMs.p99,
      sendP99Ratio: send.latencyMs.p99 / alone.send,
      notAnswered2xx: refusals(me.byStatus) + refusals(send.byStatus),
      serverMiB: residentMiB(server),
      mostServerMiB: Math.max(me.mostResidentMiB, send.mostResidentMiB),
      hostileRequests: requests,
      hostileEnded: ended,
    };
    runs.push({ side: trouble, round, figures });
  }
  return runs;
}

function refusals(byStatus: Readonly<Record<string, number>>): number {
  return Object.entries(byStatus).reduce(
    (sum, [status, count]) => sum + (status.startsWith('2') ? 0 : count),
    0,
  );
}

function planOf(
  trouble: Trouble,
  shared: Pick<Extract<HostilePlan, { kind: 'tenant' }>, 'port' | 'key' | 'shopIds' | 'durationMs'>,
): HostilePlan | undefined {
  const { port, durationMs } = shared;
  if (trouble === 'hostile stranger') return { kind: 'stranger', port, durationMs, connections: STRANGERS };
  if (trouble === 'hostile tenant') return { kind: 'tenant', ...shared, callsPerMinute: CALLS_PER_MINUTE };
  return undefined;
}
