import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testEnvironment } from '../../bin/environment.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type Fleet, startFleet } from '../e2e/fleet.ts';
import { type ChaosShop, openShops } from './chaos-shops.ts';
import { SHIFTED_SERVICE } from './clock-faults.ts';
import { type Fault, runFault } from './scenario.ts';

const SHOPS = 5;
const NODES = 3;

/** What the faults are inflicted on; there once the tests run. */
export interface FaultWorld {
  fleet(): Fleet;
  shops(): readonly ChaosShop[];
}

/**
 * The faults one after the other as tests, on a few nodes with a few shops. TEST_SEED repeats the moments. Bounds on
 * times are five times those of the contract, since other tests run beside them.
 */
export function testFaults(
  faults: readonly Fault[],
  options: {
    readonly redis: 'single' | 'cluster' | 'pair';
    readonly messagesPerShop: number;
    /** Default 3. */
    readonly nodes?: number;
    /** Default 5. */
    readonly shops?: number;
    /** Settings of every node. */
    readonly environment?: Readonly<Record<string, string>>;
  },
): FaultWorld {
  const { seed = Date.now() % 2 ** 31 } = testEnvironment();
  const random = seededRandom(seed);
  let fleet: Fleet;
  let shops: readonly ChaosShop[];
  before(async () => {
    const { redis, environment = {}, nodes = NODES } = options;
    fleet = await startFleet({ nodes, redis, environment, program: SHIFTED_SERVICE });
    shops = await openShops(fleet, options.shops ?? SHOPS);
  });
  after(() => fleet.stop());
  for (const fault of faults) {
    test(`${fault.name}: nothing lost, nothing doubled, nobody unanswered (seed ${seed})`, async (context) => {
      const { messagesPerShop } = options;
      const run = { fleet, random, shops, messagesPerShop, trafficMs: 2_000, timeout: 5 };
      const figures = await runFault(run, fault);
      context.diagnostic(JSON.stringify(figures));
      assert.ok(figures.accepted > 0);
    });
  }
  return { fleet: () => fleet, shops: () => shops };
}
