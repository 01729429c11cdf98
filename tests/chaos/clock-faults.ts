import assert from 'node:assert/strict';
import { untilConnected } from './chaos-shops.ts';
import { type Fault, homeOfFirst, pause, within } from './scenario.ts';

/** The service with a clock that SIGUSR2 shifts and puts right. */
export const SHIFTED_SERVICE = 'tests/chaos/shifted-service.ts';

/** How soon after the fault's end everything goes on by itself. */
const RECOVERY_MS = 15_000;

/** The clock of one node is 5 hours ahead for so long, then put right. */
export function clockAhead(forMs: number): Fault {
  return {
    name: `clock 5 hours ahead (${forMs / 1_000} s)`,
    async inflict(run) {
      const { node } = await homeOfFirst(run);
      const before = await node.metric('msgapi_runtime_clock_disputes_total');
      node.signal('SIGUSR2');
      await pause(forMs);
      const ahead = await node.metric('msgapi_runtime_clock_ahead_seconds');
      const owned = await node.metric('msgapi_runtime_shards_owned');
      node.signal('SIGUSR2');
      const startedMs = performance.now();
      await run.fleet.spread();
      await untilConnected(run.shops);
      const recoveredMs = performance.now() - startedMs;
      within(run, RECOVERY_MS, 'going on after the clock was put right', recoveredMs);
      assert.equal((await node.metric('msgapi_runtime_clock_disputes_total')) - before, 1);
      return { recoveredMs, note: `${Math.round(ahead)} s ahead it owned ${owned} shards` };
    },
  };
}
