import { type Bench, type Figures, figuresOf, type Run } from '../harness/bench.ts';
import { load, sendRequests } from '../harness/load.ts';
import { metricsOf } from '../harness/metrics.ts';
import type { RunningSide } from '../harness/running-side.ts';
import { onService } from '../harness/side.ts';
import { MESSAGES_PER_SHOP } from '../load/load-plan.ts';
import { fleetFor } from './compared.ts';

/** A shop sends one message each 6 to 20 s, so that at this gap its queue does not grow. */
const GAP_SECONDS = 20;
/** The time until as many messages end as begin, and the code is compiled. It is not measured. */
const RAMP_SECONDS = 20;

/** Measures the CPU time of a message from the request to the network's reply, `--rate=300` a second, in memory. */
export const wholeWay: Bench = {
  name: 'whole-way',
  title: 'A message from the request until the network in memory has it, at a steady rate',
  isMain: false,
  targets: [
    {
      kind: 'at most',
      side: 'service',
      against: 'other-build',
      figure: 'totalCpuUs',
      must: 0.8,
      aim: 0.4,
    },
  ],
  async run(context) {
    const ratePerSecond = context.setting('rate', 300);
    const rampSeconds = context.setting('ramp', RAMP_SECONDS);
    const { directory, build, seconds } = context;
    const fleet = fleetFor({ messages: ratePerSecond * GAP_SECONDS * MESSAGES_PER_SHOP, isPaused: false });
    const runs: Run[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      await onService({ directory, build, fleet }, async (side) => {
        context.progress(`whole-way: round ${round}, ramp`);
        const ramp = await load(side, sendRequests(side), {
          seconds: rampSeconds,
          ratePerSecond,
          warmupMs: 0,
        });
        context.progress(`whole-way: round ${round}`);
        const requests = sendRequests(side, ramp.made);
        const before = await acknowledged(side);
        const result = await load(side, requests, { seconds, ratePerSecond, warmupMs: 0 });
        const figures: Figures = {
          ...figuresOf(result),
          sentPerSecond: ((await acknowledged(side)) - before) / (result.durationMs / 1_000),
        };
        runs.push({ side: 'service', round, figures });
      });
    }
    return runs;
  },
};

/** Returns how many messages the network has taken. */
async function acknowledged({ admin }: RunningSide): Promise<number> {
  const metrics = await metricsOf(admin ?? { port: 0, token: '' });
  return metrics.get('msgapi_session_outcomes_total{outcome="acknowledged",code=""}') ?? Number.NaN;
}
