import { describe } from 'node:test';
import { accessRows } from './conformance-access.ts';
import { endpointRows } from './conformance-endpoints.ts';
import { inputRows } from './conformance-input.ts';
import { pairingRows } from './conformance-pairing.ts';
import { resourceRows } from './conformance-resources.ts';
import { sharedService } from './shared-service.ts';

describe('the contract over HTTP, with the chat network in memory', () => {
  const { target } = sharedService();

  describe('Endpoints', () => endpointRows(() => target));
  describe('Authentication', () => accessRows(() => target));
  describe('Query and body tables, Input bounds', () => inputRows(() => target));
  describe('Errors, States and transitions, Resources', () => resourceRows(() => target, true));
  describe('Pairing by code', () => pairingRows(() => target));
});
