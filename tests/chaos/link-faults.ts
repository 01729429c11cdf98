import { MINUTE_MS } from '../../runtime/durations.ts';
import { pause, until } from '../testbed/waiting.ts';
import { allConnected } from './chaos-shops.ts';
import { type Fault, homeOfFirst } from './scenario.ts';

/** The connection between one node and Redis is cut, or nothing passes on it, for `forMs`. */
export function lineFault(kind: 'cut' | 'stall', forMs: number): Fault {
  return {
    name: `Redis line ${kind} (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node } = await homeOfFirst(run);
      const { link } = node;
      if (link === undefined) throw new Error('a cluster’s lines cannot be held');
      const startedMs = performance.now();
      link[kind]();
      await pause(forMs);
      link.mend();
      await until(
        `${node.nodeId} is ready`,
        async () => (await fetch(`${node.adminUrl()}/readyz`)).status === 200,
        { withinMs: MINUTE_MS },
      );
      await run.fleet.spread();
      await allConnected(run.shops);
      const recoveredMs = performance.now() - startedMs;
      const refusals = await node.metric('msgapi_runtime_fence_refusals_total');
      const unknown = await node.metric('msgapi_runtime_unknown_outcomes_total');
      return { recoveredMs, note: `fence refusals ${refusals}, outcomes found out ${unknown}` };
    },
  };
}
