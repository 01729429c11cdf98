/**
 * The faults of `npm run test:chaos`, shorter and with fewer shops: nodes stopped, killed and paused, lines to Redis
 * cut and stalled, Redis down, full and read-only, each while shops send and callers read. TEST_SEED repeats the
 * moments. Bounds on times are five times those of the contract, since other tests run beside it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { testEnvironment } from '../../bin/environment.ts';
import { seededRandom } from '../../runtime/random.ts';
import { type Fleet, startFleet } from '../e2e/fleet.ts';
import { type ChaosShop, openShops } from './chaos-shops.ts';
import { lineFault } from './link-faults.ts';
import { handOver, stopped, takeOver } from './node-faults.ts';
import { type Fault, runFault } from './scenario.ts';
import { storeDown, storeRefuses } from './store-faults.ts';

const { seed = Date.now() % 2 ** 31 } = testEnvironment();
const random = seededRandom(seed);

let fleet: Fleet;
let shops: readonly ChaosShop[];
before(async () => {
  fleet = await startFleet({ nodes: 3 });
  shops = await openShops(fleet, 5);
});
after(() => fleet.stop());

const faults: readonly Fault[] = [
  handOver,
  takeOver,
  stopped('shorter than the lease', 2_000),
  stopped('longer than the lease', 6_500),
  lineFault('cut', 1_000),
  lineFault('stall', 6_500),
  storeDown(2_000),
  storeRefuses('full', 500),
  storeRefuses('read-only', 500),
];
for (const fault of faults) {
  test(`${fault.name}: nothing lost, nothing doubled, nobody unanswered (seed ${seed})`, async (context) => {
    const figures = await runFault(
      { fleet, random, shops, messagesPerShop: 1, trafficMs: 2_000, patience: 5 },
      fault,
    );
    context.diagnostic(JSON.stringify(figures));
    assert.ok(figures.accepted > 0);
  });
}
