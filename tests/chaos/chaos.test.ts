/** Kills of `npm run test:chaos` with fewer shops, for the gate. The other faults run every night (`bin/nightly`). */
import { testFaults } from './fault-tests.ts';
import { takeOver } from './node-faults.ts';

testFaults([takeOver], { redis: 'single', messagesPerShop: 1 });
