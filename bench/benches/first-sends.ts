import { type Bench, figuresOf, type Run } from '../harness/bench.ts';
import { load, sendRequests } from '../harness/load.ts';
import type { RunningSide } from '../harness/running-side.ts';
import { sessionsBack } from '../harness/sessions-back.ts';
import { onService } from '../harness/side.ts';

/** The number of sends in a deployment's first seconds, before the code is compiled. */
const SENDS = 4_500;
const SHOPS = 500;
const TENANTS = 10;
/** Longer than the slowest start takes for them. A run that ends with fewer is invalid. */
const SECONDS = 4;

/** How fast the first 4,500 sends after a start are taken on: queues held, and queues that move. */
export const firstSends: Bench = {
  name: 'first-sends',
  title: `The first ${SENDS} POST /shops/{id}/messages after a start, ${SHOPS} connected shops, appendfsync everysec`,
  isMain: false,
  targets: [{ kind: 'never under', figure: 'perSecond', must: 8_000, aim: 10_000 }],
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, rateClient: client } = context;
    const shopsPerTenant = SHOPS / TENANTS;
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const isPaused of [true, false]) {
        const name = isPaused ? 'queues held' : 'queues moving';
        context.progress(`first-sends: round ${round}, ${name}`);
        const fleet = { tenants: TENANTS, shopsPerTenant, customers: 1_000, isConnected: true, isPaused };
        const measure = async (side: RunningSide): Promise<void> => {
          await side.restart();
          await sessionsBack(side);
          const cold = { seconds: SECONDS, warmupMs: 0, atMost: SENDS, client };
          const figures = figuresOf(await load(side, sendRequests(side), cold), SENDS);
          runs.push({ side: name, round, figures });
        };
        await onService({ directory, build, fleet, appendfsync: 'everysec' }, measure);
      }
    }
    return runs;
  },
};
