/**
 * Three nodes on a Redis that fails over to its replica: one that keeps connections open, and one that loses writes.
 */
import { failoverKeepsConnections, failoverLosesWrites } from './failover-faults.ts';
import { testFaults } from './fault-tests.ts';

testFaults([failoverKeepsConnections(6_500), failoverLosesWrites(1_000)], {
  redis: 'pair',
  messagesPerShop: 2,
});
