/**
 * The contract, row by row, against the whole service: real actors, real Redis, the real client on the simulated
 * network.
 */
import { randomInt } from 'node:crypto';
import { after, before, describe } from 'node:test';
import { accessRows } from '../../http/conformance/access-rows.ts';
import { contentRows } from '../../http/conformance/content-rows.ts';
import { endpointRows } from '../../http/conformance/endpoint-rows.ts';
import { inputRows } from '../../http/conformance/input-rows.ts';
import { pairingRows } from '../../http/conformance/pairing-rows.ts';
import { resourceRows } from '../../http/conformance/resource-rows.ts';
import { openTarget, type Target } from '../../http/target.ts';
import { apiClient } from '../stack/api-client.ts';
import { type ServiceStack, startServiceStack } from '../stack/service-stack.ts';
import { connectShop } from '../stack/shop-steps.ts';

describe('the contract over HTTP, before the real actors', () => {
  let stack: ServiceStack;
  let target: Target;

  before(async () => {
    stack = await startServiceStack();
    target = await openTarget({
      apiUrl: stack.apiUrl(),
      adminUrl: stack.adminUrl(),
      adminToken: stack.adminToken,
      async connect(key, shopId) {
        const api = apiClient(() => stack.apiUrl(), key);
        await connectShop({ ...stack, api }, shopId, `+336${randomInt(10_000_000, 99_999_999)}`);
      },
      keepsFiles: true,
      async write({ key }, shopId) {
        const { data } = await apiClient(() => stack.apiUrl(), key).get(`/shops/${shopId}/channels/msgapp`);
        await stack.network.write('+33722220077', { to: `+${data.phone}`, kind: 'image' });
      },
    });
  });
  after(async () => {
    target.close();
    await stack.stop();
  });

  // Each row has its own account. Pairing takes a second, so rows wait side by side.
  describe('Endpoints', { concurrency: 8 }, () => endpointRows(() => target));
  describe('Authentication', { concurrency: 8 }, () => accessRows(() => target));
  describe('Query and body tables, Input bounds', () => inputRows(() => target));
  describe('Errors, States and Resources', () => resourceRows(() => target, false));
  describe('The content of a message', { concurrency: 8 }, () => contentRows(() => target));
  describe('Pairing by code', () => pairingRows(() => target));
});
