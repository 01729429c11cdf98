/** One tenant's attachments come from names that nobody answers for: nobody else's sends and reads notice. */
import { after } from 'node:test';
import { testFaults } from './fault-tests.ts';
import { muteNameServer, namesHang } from './name-faults.ts';

const nameServer = await muteNameServer();
after(() => nameServer.close());

testFaults([namesHang(nameServer)], {
  redis: 'single',
  messagesPerShop: 1,
  environment: { MEDIA_NAME_SERVERS: nameServer.address },
});
