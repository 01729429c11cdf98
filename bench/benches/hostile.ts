import { setTimeout as delay } from 'node:timers/promises';
import type { Bench, BenchContext, Run } from '../harness/bench.ts';
import { startHostile } from '../harness/load.ts';
import type { RunningSide } from '../harness/running-side.ts';
import { startSide } from '../harness/side.ts';
import {
  type CallLatencies,
  figuresOfCalls,
  LEAD_MS,
  ME_PER_SECOND,
  SENDS_PER_SECOND,
  wellBehaved,
} from '../harness/well-behaved.ts';
import type { HostilePlan } from '../load/hostile-plan.ts';
import { fleetFor } from './compared.ts';

const STRANGERS = 2_000;
/** The limits of `bin/dev`'s demo key, which an operator may give to any key. */
const CALLS_PER_MINUTE = 6_000;
const RECOVERY_MS = 12_000;

type Trouble = 'alone' | 'hostile tenant' | 'hostile stranger' | 'afterwards';
const TROUBLES: readonly Trouble[] = ['alone', 'hostile tenant', 'hostile stranger', 'afterwards'];

/**
 * Measures the effect on other tenants of one that spends its whole limit on the most expensive calls. Then that of a
 * stranger with 2,000 connections. Figures: p99 of `GET /me` and of sends, on schedule, and the server's memory.
 * `…P99Ratio` is against `alone`, and must stay within 2. `hostile-names` is the part that needs sessions of the real
 * client.
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
        build: context.build,
        // A third more, since the hostile tenant's shops take none.
        fleet: fleetFor({ messages: SENDS_PER_SECOND * seconds * TROUBLES.length * 1.34, isPaused: true }),
        appendfsync: 'everysec',
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
  const others = { keys: good, shops: goodShops, recipients };
  const runs: Run[] = [];
  let alone: CallLatencies | undefined;
  let made = 0;
  for (const trouble of TROUBLES) {
    context.progress(`hostile: round ${round}, ${trouble}`);
    if (trouble === 'afterwards') await delay(RECOVERY_MS);
    const durationMs = LEAD_MS + context.seconds * 1_000 + 1_000;
    const plan = planOf(trouble, { port, key: bad?.key ?? '', shopIds: badShops, durationMs });
    const troubled = plan === undefined ? undefined : startHostile(plan);
    const felt = await wellBehaved(side, others, { seconds: context.seconds, from: made });
    made = felt.send.made;
    const { requests = 0, ended = 0 } = (await troubled) ?? {};
    alone ??= felt;
    const figures = {
      ...figuresOfCalls(felt, alone, server),
      hostileRequests: requests,
      hostileEnded: ended,
    };
    runs.push({ side: trouble, round, figures });
  }
  return runs;
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
