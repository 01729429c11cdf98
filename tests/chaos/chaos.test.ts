/**
 * The faults of `npm run test:chaos`, shorter and with fewer shops: nodes stopped, killed and paused, lines to Redis
 * cut and stalled, Redis down, full and read-only, each while shops send and callers read.
 */
import { clockAhead } from './clock-faults.ts';
import { testFaults } from './fault-tests.ts';
import { lineFault } from './link-faults.ts';
import { handOver, stopped, takeOver } from './node-faults.ts';
import { storeDown, storeRefuses } from './store-faults.ts';

testFaults(
  [
    handOver,
    takeOver,
    stopped('shorter than the lease', 2_000),
    stopped('longer than the lease', 6_500),
    lineFault('cut', 1_000),
    lineFault('stall', 6_500),
    storeDown(2_000),
    storeRefuses('full', 500),
    storeRefuses('read-only', 500),
    clockAhead(4_000),
  ],
  { redis: 'single', messagesPerShop: 1 },
);
