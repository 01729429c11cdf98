/** Requests of other nodes that run a newer release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorServices } from '../../http/operator-api/services.ts';
import { forwardToOwner } from '../../http/owner/forward-to-owner.ts';
import type { ServingOptions } from '../../http/owner/serve-as-owner.ts';
import type { OperatorRequest } from '../../http/owner/serve-operator.ts';
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
  await assert.rejects(serve(newerText), { code: 'SHARD_NOT_OWNED', message });
});

for (const kind of ['api', 'operator']) {
  test(`a request for an unknown endpoint is refused by its name: ${kind}`, async () => {
    const newerText = JSON.stringify({ kind, method: 'GET', path: '/digest' });
    const message = 'another node handed over an endpoint unknown here: GET /digest';
    await assert.rejects(serve(newerText), { code: 'SHARD_NOT_OWNED', message });
  });
}

test('the caller of an unknown endpoint gets a 503 that says when to try again, and the next owner may be asked', async () => {
  const forwarder = { forward: (_: string, payload: string) => serve(payload) };
  const parts = fakeOf<OperatorRequest & { readonly tenantId: string }>({});
  const nodeRequest = { kind: 'operator', method: 'GET', path: '/digest', parts } as const;
  const { reply, hasMoved } = await forwardToOwner(forwarder, 'tenant', nodeRequest, 2_000);
  assert.deepEqual([reply.status, reply.code, hasMoved], [503, 'SERVICE_UNAVAILABLE', true]);
  assert.match(reply.headers, /Retry-After: 30\b/);
});
