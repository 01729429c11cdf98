/** The storms of `npm run test:chaos`, shorter and with fewer shops: what the chat network does to all sessions at once. */
import { testFaults } from './fault-tests.ts';
import { inboundAtOnce, loginsRefused, networkDrops, rateSignals } from './storms.ts';

testFaults([networkDrops, loginsRefused(1_500), rateSignals, inboundAtOnce(60)], {
  redis: 'single',
  messagesPerShop: 1,
  nodes: 1,
  shops: 3,
});
