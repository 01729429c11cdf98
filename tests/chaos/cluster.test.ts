/** Three nodes on a Redis Cluster of three masters: one of them is restarted under traffic. */
import { testFaults } from './fault-tests.ts';
import { handOver } from './node-faults.ts';

testFaults([handOver], { redis: 'cluster', messagesPerShop: 2 });
