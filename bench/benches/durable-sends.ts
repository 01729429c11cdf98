import { type Bench, figuresOf, type Run } from '../harness/bench.ts';
import { load, sendRequests } from '../harness/load.ts';
import { onService } from '../harness/side.ts';
import { fleetFor } from './compared.ts';

const WARMUP_SECONDS = 3;

/**
 * Measures the cost of `SEND_DURABILITY=replica`: `--rate=1000` sends a second, on schedule, with each value by turns.
 * In both cases Redis has a replica, which writes to the same disk.
 */
export const durableSends: Bench = {
  name: 'durable-sends',
  title: 'POST /shops/{id}/messages, on schedule, by SEND_DURABILITY',
  isMain: false,
  targets: [],
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    const ratePerSecond = context.setting('rate', 1_000);
    const fleet = fleetFor({ messages: ratePerSecond * (seconds + WARMUP_SECONDS + 1), isPaused: true });
    for (let round = 1; round <= context.rounds; round += 1) {
      const values = ['master', 'replica'];
      for (const value of round % 2 === 1 ? values : values.toReversed()) {
        context.progress(`durable-sends: round ${round} of ${context.rounds}, ${value}`);
        const environment = { SEND_DURABILITY: value };
        await onService({ directory, build, fleet, isReplicated: true, environment }, async (side) => {
          const warmupMs = WARMUP_SECONDS * 1_000;
          const result = await load(side, sendRequests(side), { seconds, ratePerSecond, warmupMs });
          runs.push({ side: value, round, figures: figuresOf(result) });
        });
      }
    }
    return runs;
  },
};
