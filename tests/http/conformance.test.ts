import { after, before, describe } from 'node:test';
import { accessRows } from './conformance-access.ts';
import { endpointRows } from './conformance-endpoints.ts';
import { inputRows } from './conformance-input.ts';
import { pairingRows } from './conformance-pairing.ts';
import { resourceRows } from './conformance-resources.ts';
import type { Target } from './conformance-target.ts';
import { type ServiceFixture, startService, targetOf } from './service-fixture.ts';

describe('the contract over HTTP, with the chat network in memory', () => {
  let service: ServiceFixture;
  let target: Target;

  before(async () => {
    service = await startService();
    target = await targetOf(service);
  });
  after(async () => {
    target.close();
    await service.stop();
  });

  describe('Endpoints', () => endpointRows(() => target));
  describe('Authentication', () => accessRows(() => target));
  describe('Query and body tables, Input bounds', () => inputRows(() => target));
  describe('Errors, States and transitions, Resources', () => resourceRows(() => target, true));
  describe('Pairing by code', () => pairingRows(() => target));
});
