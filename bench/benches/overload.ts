import { type Bench, figuresOf, type Run } from '../harness/bench.ts';
import { load, sendRequests } from '../harness/load.ts';
import { startSide } from '../harness/side.ts';
import { sendingFleet } from './compared.ts';

/** The offered load as a multiple of the peak just measured. */
const TIMES_PEAK = 4;
/** Connections: twice the requests that a node works on at once. */
const CALLERS = 2_000;
const SECONDS_AFTER = 5;

/**
 * A load above the peak, on schedule. The service must accept nearly as much as at its peak and answer it in bounded
 * time. It must refuse the rest with `503 OVERLOADED`, and recover by itself afterwards.
 */
export const overload: Bench = {
  name: 'overload',
  title: `POST /shops/{id}/messages at ${TIMES_PEAK} times the peak, open loop, ${CALLERS} connections; then at half of it`,
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    const fleet = sendingFleet(seconds * TIMES_PEAK + SECONDS_AFTER, true);
    for (let round = 1; round <= context.rounds; round += 1) {
      const side = await startSide('service', {
        directory,
        build,
        fleet,
        appendfsync: 'everysec',
        progress: (text) => context.progress(`overload: round ${round}, ${text}`),
      });
      try {
        context.progress(`overload: round ${round} of ${context.rounds}`);
        const peak = await load(side, sendRequests(side), { seconds });
        const overload = await load(side, sendRequests(side, peak.made), {
          seconds,
          warmupMs: 0,
          connections: CALLERS,
          ratePerSecond: Math.floor(peak.perSecond * TIMES_PEAK),
          mayOverload: true,
        });
        const after = await load(side, sendRequests(side, overload.made), {
          seconds: SECONDS_AFTER,
          warmupMs: 0,
          ratePerSecond: Math.floor(peak.perSecond / 2),
          mayOverload: true,
        });
        for (const [name, result] of Object.entries({ peak, over: overload, after })) {
          const { overloaded, mostResidentMiB } = result;
          const figures = {
            ...figuresOf(result),
            p99FromWriteMs: result.p99FromWriteMs,
            mostServerMiB: mostResidentMiB,
            refusedPerSecond: (overloaded.count * 1_000) / result.durationMs,
            refusedP99Ms: overloaded.p99Ms,
            lastRefusedMs: overloaded.lastMs,
          };
          runs.push({ side: SIDES[name as keyof typeof SIDES], round, figures });
        }
      } finally {
        await side.stop();
      }
    }
    return runs;
  },
};

const SIDES = { peak: 'peak', over: `${TIMES_PEAK} times`, after: 'half, right after' } as const;
