import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../../../http/contract/endpoint.ts';
import type { RequestValue } from '../../../http/contract/exchange.ts';
import type { Forwarder } from '../../../http/owner/forwarder.ts';
import type { Match } from '../../../http/pipeline/router.ts';
import { TenantCall, type TenantCallOptions } from '../../../http/tenant-api/edge/tenant-call.ts';
import type { ApiServices } from '../../../http/tenant-api/services.ts';
import { Counts } from '../../../runtime/counts.ts';
import { unavailableFailure } from '../../../runtime/runtime-failure.ts';
import { fakeOf } from '../../testbed/fake-of.ts';

test('a call that ends by a defect is no longer counted among the calls of its tenant', async () => {
  const callsOfTenants = new Counts();
  const counts: number[] = [];
  const request = fakeOf<RequestValue>({
    method: 'GET',
    headers: fakeOf<RequestValue['headers']>({ takesEvents: false }),
  });
  const endpoint = fakeOf<Endpoint<ApiServices>>({ method: 'GET', path: '/me' });
  const match = fakeOf<Match<ApiServices>>({ route: fakeOf<Match<ApiServices>['route']>({ path: '/me' }) });
  const edge = fakeOf<TenantCallOptions>({
    keys: { tenantOfKey: () => 'tenant' },
    forwarder: fakeOf<Forwarder>({ ownerIsLocal: () => false }),
    mostInProgressOfTenant: 1,
    callsOfTenants,
    async follow() {
      await Promise.resolve();
      counts.push(callsOfTenants.countOf('tenant'));
      throw new TypeError('a defect');
    },
  });
  const call = new TenantCall(request, { match, endpoint, keyHash: 'hash' }, edge);
  await assert.rejects(
    async () => call.answer({ requestId: 'r', traceparent: undefined }, undefined),
    TypeError,
  );
  assert.deepEqual([counts, callsOfTenants.countOf('tenant')], [[1], 0]);
});

test('a look-up of a key that failed is repeated, and one that succeeded is not', async () => {
  let lookUps = 0;
  const tenantOfKey = (): Promise<string> => {
    lookUps += 1;
    return lookUps === 1 ? Promise.reject(unavailableFailure('Redis is away')) : Promise.resolve('tenant');
  };
  const match = fakeOf<Match<ApiServices>>({ route: fakeOf<Match<ApiServices>['route']>({ path: '/me' }) });
  const call = new TenantCall(
    fakeOf<RequestValue>({}),
    { match, endpoint: fakeOf<Endpoint<ApiServices>>({}), keyHash: 'hash' },
    fakeOf<TenantCallOptions>({ keys: { tenantOfKey } }),
  );
  await assert.rejects(async () => call.tenant(), { code: 'STORE_UNAVAILABLE' });
  assert.equal(await call.tenant(), 'tenant');
  assert.equal(await call.tenant(), 'tenant');
  assert.equal(lookUps, 2);
});
