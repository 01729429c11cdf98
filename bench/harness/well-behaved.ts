import type { LoadResult } from '../load/load-plan.ts';
import type { BenchContext, Figures } from './bench.ts';
import type { Fleet } from './fleet.ts';
import { load } from './load.ts';
import { residentMiB } from './process-usage.ts';
import type { RunningSide } from './running-side.ts';

/** Calls of well-behaved tenants per second, of each kind, on schedule. */
export const ME_PER_SECOND = 100;
export const SENDS_PER_SECOND = 100;
const CONNECTIONS = 16;
/** Trouble begins before the measured part. */
export const LEAD_MS = 4_000;

/** The latencies that they measured. */
export interface CallLatencies {
  readonly me: LoadResult;
  readonly send: LoadResult;
}

/** Has well-behaved tenants call for `seconds`, after the lead. `from`: how many messages they sent before. */
export async function wellBehaved(
  side: Pick<RunningSide, 'ports' | 'watch'>,
  { keys, shops, recipients }: Fleet,
  { seconds, from }: Pick<BenchContext, 'seconds'> & { readonly from: number },
): Promise<CallLatencies> {
  const rate = { seconds, warmupMs: LEAD_MS, connections: CONNECTIONS };
  const [me, send] = await Promise.all([
    load(side, { kind: 'me', keys: keys.map(({ key }) => key) }, { ...rate, ratePerSecond: ME_PER_SECOND }),
    load(
      side,
      { kind: 'send', shops, recipients, from, isUnbounded: false },
      { ...rate, ratePerSecond: SENDS_PER_SECOND },
    ),
  ]);
  return { me, send };
}

/** Returns the figures against those of a run alone; `server`: the process whose memory is read. */
export function figuresOfCalls({ me, send }: CallLatencies, alone: CallLatencies, server: number): Figures {
  return {
    meP50Ms: me.latencyMs.p50,
    meP99Ms: me.latencyMs.p99,
    meP99Ratio: me.latencyMs.p99 / alone.me.latencyMs.p99,
    sendP50Ms: send.latencyMs.p50,
    sendP99Ms: send.latencyMs.p99,
    sendP99Ratio: send.latencyMs.p99 / alone.send.latencyMs.p99,
    notAnswered2xx: refusals(me.byStatus) + refusals(send.byStatus),
    serverMiB: residentMiB(server),
    mostServerMiB: Math.max(me.mostResidentMiB, send.mostResidentMiB),
  };
}

function refusals(byStatus: Readonly<Record<string, number>>): number {
  return Object.entries(byStatus).reduce(
    (sum, [status, count]) => sum + (status.startsWith('2') ? 0 : count),
    0,
  );
}
