import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { type ChaosShop, openShops } from './chaos-shops.ts';
import { type Fault, runFault } from './scenario.ts';

const SHOPS = 5;
const NODES = 3;

/**
 * The faults one after the other as tests, on a few nodes with a few shops. TEST_SEED repeats the moments. Bounds on
 * times are five times those of the contract, since other tests run beside them.
 */
export function testFaults(
  faults: readonly Fault[],
  options: {
    readonly redis: 'single' | 'cluster' | 'pair';
    readonly messagesPerShop: number;
  },
): void {
  const { seed } = testEnvironment();
  const random = seededRandom(seed);
  let fleet: Fleet;
  let shops: readonly ChaosShop[];
  before(async () => {
    fleet = await startFleet({ nodes: NODES, redis: options.redis });
    shops = await openShops(fleet, SHOPS);
  });
  after(() => fleet.stop());
  for (const fault of faults) {
    test(`${fault.name}: nothing lost, nothing doubled, no caller unanswered (seed ${seed})`, async (context) => {
      const { messagesPerShop } = options;
      const run = { fleet, random, shops, messagesPerShop, trafficMs: 2_000, timeout: 5 };
      const figures = await runFault(run, fault);
      context.diagnostic(JSON.stringify(figures));
      assert.ok(figures.accepted > 0);
    });
  }
}
