import { type Bench, type BenchContext, figuresOf, type Run } from '../harness/bench.ts';
import { load, sendRequests } from '../harness/load.ts';
import { onService } from '../harness/side.ts';
import { MESSAGES_PER_SHOP } from '../load/load-plan.ts';
import { fleetFor, sendingFleet } from './compared.ts';

function alone(parts: Omit<Bench, 'targets'> & Partial<Pick<Bench, 'targets'>>): Bench {
  return { targets: [], ...parts };
}

/** Latencies of requests on schedule, at half of the peak. */
const latency = alone({
  name: 'latency',
  title: 'POST /shops/{id}/messages at half of the peak, open loop',
  isMain: true,
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`latency: round ${round} of ${context.rounds}`);
      await onService({ directory, build, fleet: sendingFleet(seconds * 2 + 4, true) }, async (side) => {
        const peak = await load(side, sendRequests(side), { seconds });
        const ratePerSecond = Math.floor(peak.perSecond / 2);
        const halfResult = await load(side, sendRequests(side, peak.made), {
          seconds,
          ratePerSecond,
          warmupMs: 1_000,
        });
        runs.push({ side: 'peak', round, figures: figuresOf(peak) });
        runs.push({ side: 'half of it', round, figures: figuresOf(halfResult) });
      });
    }
    return runs;
  },
});

/** Measures sends with queues that move: every shop also sends, at the pace that the policy allows. */
const sending = alone({
  name: 'sending',
  title: 'POST /shops/{id}/messages while every shop also sends, one message each 6 to 20 s',
  isMain: false,
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`sending: round ${round} of ${context.rounds}`);
      await onService({ directory, build, fleet: sendingFleet(seconds + 3, false) }, async (side) => {
        runs.push({
          side: 'service',
          round,
          figures: figuresOf(await load(side, sendRequests(side), { seconds })),
        });
      });
    }
    return runs;
  },
});

/** Cost and memory as shops grow: each request goes to the next shop. From `--smallest=10` to `--shops=10000`. */
const shops = alone({
  name: 'shops',
  title: 'GET /shops/{id}/channels/msgapp over all shops, by number of connected shops',
  isMain: false,
  targets: [
    {
      kind: 'at most',
      side: '100000 shops',
      against: '1000 shops',
      figure: 'totalCpuUs',
      must: 1.5,
      aim: 1.25,
    },
  ],
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    const largest = context.setting('shops', 10_000);
    const smallest = context.setting('smallest', 10);
    const counts = [10, 1_000, 10_000, 100_000].filter((size) => size >= smallest && size <= largest);
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const count of round % 2 === 1 ? counts : counts.toReversed()) {
        context.progress(`shops: round ${round}, ${count}`);
        const tenants = Math.max(1, Math.ceil(count / 500));
        const shopsPerTenant = count / tenants;
        const fleet = { tenants, shopsPerTenant, customers: 100, isConnected: true, isPaused: false };
        await onService({ directory, build, fleet, appendfsync: 'everysec' }, async (side) => {
          const result = await load(side, { kind: 'channel', shops: side.fleet.shops }, { seconds });
          runs.push({ side: `${count} shops`, round, figures: figuresOf(result) });
        });
      }
    }
    return runs;
  },
});

/** Throughput of several nodes on one machine; they share its cores with the client and Redis. */
const nodes = alone({
  name: 'nodes',
  title: 'POST /shops/{id}/messages on 1, 2 and 4 nodes behind one load, two cores for all',
  isMain: false,
  async run(context) {
    const runs: Run[] = [];
    const { directory, build, seconds } = context;
    for (const count of [1, 2, 4]) {
      context.progress(`nodes: ${count}`);
      await onService(
        { directory, build, nodes: count, fleet: sendingFleet(seconds + 3, true) },
        async (side) => {
          const result = await load(side, sendRequests(side), { seconds });
          runs.push({
            side: count === 1 ? '1 node' : `${count} nodes`,
            round: 1,
            figures: figuresOf(result),
          });
        },
      );
    }
    return runs;
  },
});

/** From the start of the process until it takes requests. */
const start = alone({
  name: 'start',
  title: 'Start-up on a store that knows connected shops',
  isMain: false,
  async run(context) {
    const runs: Run[] = [];
    const { directory, build } = context;
    const count = context.setting('shops', 10_000);
    context.progress(`start: making ${count} shops`);
    const tenants = Math.ceil(count / 500);
    const fleet = {
      tenants,
      shopsPerTenant: count / tenants,
      customers: 100,
      isConnected: true,
      isPaused: false,
    };
    await onService({ directory, build, fleet, appendfsync: 'everysec' }, async (side) => {
      runs.push({ side: 'empty store', round: 1, figures: { readyMs: side.startMs } });
      for (let round = 1; round <= context.rounds; round += 1)
        runs.push({ side: `${count} shops`, round, figures: { readyMs: await side.restart() } });
    });
    return runs;
  },
});

/** A shop sends one message each 6 to 20 s. */
const SLOWEST_GAP_SECONDS = 20;

/**
 * Measures if memory grows and p99 drifts: `--minutes=` of sends at a steady rate, to enough shops that their queues do
 * not grow.
 */
const soak = alone({
  name: 'soak',
  title: 'POST /shops/{id}/messages at a steady rate',
  isMain: false,
  targets: [{ kind: 'never over', figure: 'p99Ms', must: 60, aim: 25 }],
  async run(context: BenchContext) {
    const minutes = context.setting('minutes', 1);
    const ratePerSecond = context.setting('rate', 500);
    const runs: Run[] = [];
    const seconds = Math.max(60 * minutes, SLOWEST_GAP_SECONDS * MESSAGES_PER_SHOP);
    const fleet = fleetFor({ messages: ratePerSecond * seconds, isPaused: false });
    await onService({ directory: context.directory, build: context.build, fleet }, async (side) => {
      let from = 0;
      for (let minute = 1; minute < minutes + 1; minute += 1) {
        context.progress(`soak: minute ${minute} of ${minutes}`);
        const requests = sendRequests(side, from);
        const result = await load(side, requests, {
          seconds: 60 * Math.min(1, minutes),
          ratePerSecond,
          warmupMs: 0,
        });
        from = result.made;
        runs.push({ side: `minute ${minute}`, round: 1, figures: figuresOf(result) });
      }
    });
    return runs;
  },
});

/** The benches of the service alone that have no file of their own. */
export const serviceBenches: readonly Bench[] = [latency, sending, shops, nodes, start, soak];
