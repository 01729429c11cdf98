import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { API_ENDPOINTS } from '../../../http/tenant-api/endpoints.ts';
import { propertyRuns } from '../../testbed/property-runs.ts';
import { sharedService } from '../shared-service.ts';
import type { TestTenant } from '../target.ts';
import { callsOf, withoutWait } from './fuzz-calls.ts';

/** Enough to meet every keyword of the document many times; the nightly run of the gate may raise it. */
const RUNS_PER_ROUTE = 150;

/**
 * Fields that may be refused though they fit the schema. Moments may be past, and webhooks may not call some hosts.
 * Shops and texts may not fit the rest of the call. A cursor may be none of these events.
 */
const JUDGED_BY_ACTORS = /^(cursor|url|sendAt|notBefore|notAfter|(quietHours|shops|recipients)\b.*)$/;

describe('every route, called as its document allows and as it does not', () => {
  let owner: TestTenant;
  let shop: string;
  after(() => agent.destroy());
  const { target } = sharedService({}, async () => {
    owner = await target.tenant({ plan: 'scale' });
    shop = await target.shop(owner, 'Fuzzed');
    await target.connect(owner.key, shop);
  });
  const agent = new Agent({ keepAlive: true });

  for (const { method, path } of API_ENDPOINTS) {
    test(`${method} ${path}: no 5xx but those of a missing session, no hang, nothing undocumented`, async (context) => {
      const operation = target.api.document.paths[path]?.[method.toLowerCase()];
      assert.ok(operation);
      await fc.assert(
        fc.asyncProperty(callsOf(path, operation, shop), async ({ url, headers, body, isValid }) => {
          const reply = await target.api.call(method, withoutWait(url), { key: owner.key, headers, body });
          assert.ok(reply.status < 500 || reply.body.error.code === 'MSGAPP_NOT_CONNECTED', reply.text);
          if (isValid && reply.body.error?.code === 'VALIDATION_ERROR') {
            for (const { field } of reply.body.error.fields)
              assert.match(field, JUDGED_BY_ACTORS, reply.text);
          }
        }),
        { ...propertyRuns(context, RUNS_PER_ROUTE), endOnFailure: false },
      );
    });
  }
});
