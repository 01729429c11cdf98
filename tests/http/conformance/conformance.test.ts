import { describe } from 'node:test';
import { sharedService } from '../shared-service.ts';
import { accessRows } from './access-rows.ts';
import { contentRows } from './content-rows.ts';
import { endpointRows } from './endpoint-rows.ts';
import { inputRows } from './input-rows.ts';
import { pairingRows } from './pairing-rows.ts';
import { resourceRows } from './resource-rows.ts';

describe('the contract over HTTP, with the chat network in memory', () => {
  const { target } = sharedService();

  describe('Endpoints', () => endpointRows(() => target));
  describe('Authentication', () => accessRows(() => target));
  describe('Query and body tables, Input bounds', () => inputRows(() => target));
  describe('Errors, States and Resources', () => resourceRows(() => target, true));
  describe('The content of a message', () => contentRows(() => target));
  describe('Pairing by code', () => pairingRows(() => target));
});
