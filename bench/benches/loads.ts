import type { BenchContext, LoadClient } from '../harness/bench.ts';
import { startLoad } from '../harness/load.ts';
import type { RunningSide } from '../harness/running-side.ts';
import type { LoadPlan, LoadResult, Requests } from '../load/load-plan.ts';

/** Connections of a load, unless a bench asks for others (bench/README.md, How it is measured). */
export const CONNECTIONS = 64;

const WARMUP_MS = 3_000;

/** Every tenant has a key; each call takes the next. */
export function identityRequests({ fleet }: RunningSide): Requests {
  return { kind: 'me', keys: fleet.keys.map(({ key }) => key) };
}

/** Messages to known recipients, each text once; `from`: how many the shops took before. */
export function sendRequests({ fleet, watch }: Pick<RunningSide, 'fleet' | 'watch'>, from = 0): Requests {
  // A side without Redis is a floor, which keeps no caps.
  const isUnbounded = watch.redis === undefined;
  return { kind: 'send', shops: fleet.shops, recipients: fleet.recipients, from, isUnbounded };
}

/** Runs one load against a side, after a warm-up that is not measured. */
export function load(
  side: Pick<RunningSide, 'ports' | 'watch'>,
  requests: Requests,
  options: Pick<BenchContext, 'seconds'> &
    Partial<
      Pick<LoadPlan, 'ratePerSecond' | 'warmupMs' | 'connections' | 'atMost' | 'keptMessages' | 'mayOverload'>
    > & { readonly client?: LoadClient },
): Promise<LoadResult> {
  const { seconds, warmupMs = WARMUP_MS, connections = CONNECTIONS } = options;
  const { ratePerSecond, atMost, keptMessages, mayOverload } = options;
  const plan = {
    ports: side.ports,
    connections,
    warmupMs,
    durationMs: seconds * 1_000,
    requests,
    watch: side.watch,
    ratePerSecond,
    atMost,
    keptMessages,
    mayOverload,
  };
  return startLoad(plan, options.client);
}
