/** The clocks of a fleet of their own, since nothing puts them right afterwards. */
import { clocksStep } from './clock-faults.ts';
import { testFaults } from './fault-tests.ts';

testFaults([clocksStep], { redis: 'single', nodes: 2, shops: 2, messagesPerShop: 1 });
