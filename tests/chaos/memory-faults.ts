import assert from 'node:assert/strict';
import { until } from '../testbed/waiting.ts';
import { allConnected } from './chaos-shops.ts';
import { memoryLimit } from './memory-limit.ts';
import { type Fault, homeOfFirst } from './scenario.ts';

/** The memory that a node may allocate after the fault. It is used up soon, but not before the log says so. */
const LIMIT_BYTES = 16 * 1024 * 1024;
/** An alert fires above this share (deploy/monitoring/alert-rules.yaml, MemoryNearlyUsed). */
const ALERT_SHARE = 0.9;

/** The log has this line before the limit is reached. */
const words = 'memory is nearly used up';

/** The system kills a node that reaches the limit of its memory. Its callers go to other nodes; it is started again. */
export const outOfMemory: Fault = {
  name: 'a node reaches the limit of its memory',
  async inflict(run) {
    const { node } = await homeOfFirst(run);
    const limit = memoryLimit(LIMIT_BYTES);
    const startedMs = performance.now();
    try {
      limit.take(node.pid());
      const used = await node.metric('process_resident_memory_bytes');
      const most = await node.metric('msgapi_memory_limit_bytes');
      assert.ok(used / most > ALERT_SHARE, `the alert is silent: ${used} of ${most} bytes`);
      await until('the log says why', async () => node.log().includes(words) || !node.runs());
      assert.ok(node.log().includes(words), 'the node was killed without a word');
      // Each answer allocates a little.
      await until('the system kills the node', async () => {
        await node.metric('process_resident_memory_bytes').catch(() => undefined);
        return !node.runs();
      });
    } finally {
      if (node.runs()) await node.end('SIGKILL');
      limit.remove();
    }
    const killedMs = performance.now();
    await node.start();
    const backMs = performance.now();
    await run.fleet.spread();
    await allConnected(run.shops);
    // It has no bound: with TMPDIR on a small disk the node's workers compile their sources again (chaos.ts).
    const recoveredMs = performance.now() - backMs;
    const seconds = ((killedMs - startedMs) / 1_000).toFixed(1);
    return { recoveredMs, note: `killed after ${seconds} s; time from its start; the log says "${words}"` };
  },
};
