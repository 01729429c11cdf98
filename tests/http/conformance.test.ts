import { Agent } from 'node:http';
import { after, before, describe } from 'node:test';
import { send } from './checked-client.ts';
import { accessRows } from './conformance-access.ts';
import { inputRows } from './conformance-input.ts';
import { pairingRows } from './conformance-pairing.ts';
import { resourceRows } from './conformance-resources.ts';
import { openTarget, type Target } from './conformance-target.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService } from './service-fixture.ts';

describe('the contract over HTTP, before fakes', () => {
  let service: ServiceFixture;
  let target: Target;
  const agent = new Agent();

  before(async () => {
    service = await startService();
    target = await openTarget({
      apiUrl: service.apiUrl,
      adminUrl: service.adminUrl,
      adminToken: ADMIN_TOKEN,
      plan: (operation, failure) => service.memory.next.set(operation, failure),
      async connect(key, shopId) {
        const url = `${service.apiUrl}/shops/${shopId}/channels/msgapp/connect`;
        await send(agent, 'POST', url, { key });
        await send(agent, 'GET', url, { key });
      },
    });
  });
  after(async () => {
    agent.destroy();
    target.close();
    await service.stop();
  });

  describe('Endpoints and Authentication', () => accessRows(() => target));
  describe('Query and body tables, Input bounds', () => inputRows(() => target));
  describe('Errors, States and transitions, Resources', () => resourceRows(() => target, true));
  describe('Pairing by code', () => pairingRows(() => target));
});
