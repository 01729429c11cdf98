import assert from 'node:assert/strict';
import type { RedisPair } from '../e2e/stack/redis-pair.ts';
import { pause } from '../testbed/waiting.ts';
import { allConnected } from './chaos-shops.ts';
import { type Fault, type Run, within } from './scenario.ts';
import { untilReady } from './store-faults.ts';

/** Within this time after the address leads to the new master everything works again. */
const GOES_ON_MS = 15_000;

/** Redis and its replica change roles and keep every connection; the address follows after `forMs`. */
export function failoverKeepsConnections(forMs: number): Fault {
  return {
    name: `Failover that keeps TCP open (${forMs / 1_000} s)`,
    async inflict(run) {
      const pair = pairOf(run);
      await pair.changeRoles();
      await pause(forMs);
      const recoveredMs = await goesOn(run, pair);
      return { recoveredMs, note: 'time from when the address led to the new master' };
    },
  };
}

/**
 * Makes the replica fall behind for a time, then kills the master permanently, and the replica replaces it. With the
 * durability `replica` no answered call is lost.
 */
export function failoverLosesWrites(behindMs: number, durability: 'master' | 'replica' = 'master'): Fault {
  return {
    name: `Failover that loses ${behindMs / 1_000} s of writes, durability ${durability}`,
    async inflict(run) {
      const pair = pairOf(run);
      const fromMs = Date.now();
      await pair.part();
      await pause(behindMs);
      await pair.loseMaster();
      const untilMs = Date.now();
      const recoveredMs = await goesOn(run, pair);
      const reverted = await Promise.all(
        run.fleet.nodes.map((node) => node.metric('msgapi_runtime_reverted_shards_total')),
      );
      await pair.rejoin();
      const shards = reverted.reduce((sum, count) => sum + count, 0);
      const note = `time from when the address led to the new master; ${shards} shards went back`;
      return { recoveredMs, note, ...(durability === 'master' ? { lostByRedis: { fromMs, untilMs } } : {}) };
    },
  };
}

function pairOf({ fleet }: Run): RedisPair {
  assert.ok(fleet.pair !== undefined, 'the fault needs a Redis with a replica');
  return fleet.pair;
}

/** Lets the address lead to the new master; how long it took from there until all was well. */
async function goesOn(run: Run, pair: RedisPair): Promise<number> {
  const { fleet, shops } = run;
  const movedMs = performance.now();
  for (const { link } of fleet.nodes) link?.moveTo(pair.master().socketPath);
  await untilReady(fleet);
  await fleet.spread();
  await allConnected(shops);
  const tookMs = performance.now() - movedMs;
  within(run, GOES_ON_MS, 'going on after a failover', tookMs);
  return tookMs;
}
