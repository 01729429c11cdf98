/** Requests of other nodes that run a newer release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorServices } from '../../http/operator-api/services.ts';
import type { ServingOptions } from '../../http/owner/serve-as-owner.ts';
import { serveForwarded } from '../../http/serve-forwarded.ts';
import type { ApiServices } from '../../http/tenant-api/services.ts';
import { fakeOf } from '../testbed/fake-of.ts';

const serve = serveForwarded({
  api: { endpoints: [], services: fakeOf<ApiServices>({}) },
  operator: { endpoints: [], services: fakeOf<OperatorServices>({}) },
  serving: fakeOf<ServingOptions>({}),
});

test('a request of an unknown kind is refused by the name of its kind', async () => {
  const newerText = JSON.stringify({ kind: 'digest', since: '1' });
  const message = 'another node handed over a request of a kind unknown here: digest';
  await assert.rejects(serve(newerText), { message });
});

for (const kind of ['api', 'operator']) {
  test(`a request for an unknown endpoint is refused by its name: ${kind}`, async () => {
    const newerText = JSON.stringify({ kind, method: 'GET', path: '/digest' });
    const message = 'another node handed over an endpoint unknown here: GET /digest';
    await assert.rejects(serve(newerText), { message });
  });
}
