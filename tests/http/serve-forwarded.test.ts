/** Requests of other nodes that run another release. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorServices } from '../../http/operator-api/services.ts';
import { ownerFollower } from '../../http/owner/follow-owner.ts';
import { forwardToOwner } from '../../http/owner/forward-to-owner.ts';
import type { ServingOptions } from '../../http/owner/serve-as-owner.ts';
import type { OperatorRequest } from '../../http/owner/serve-operator.ts';
import { serveForwarded } from '../../http/serve-forwarded.ts';
import type { ApiServices } from '../../http/tenant-api/services.ts';
import { FakeClock } from '../testbed/fake-clock.ts';
import { fakeOf } from '../testbed/fake-of.ts';
import { QuietLog } from '../testbed/quiet-log.ts';
import { seededRandom } from '../testbed/seeded-random.ts';

/** A node that knows no endpoint. */
function olderNode() {
  const log = new QuietLog();
  const serve = serveForwarded({
    api: { endpoints: [], services: fakeOf<ApiServices>({}) },
    operator: { endpoints: [], services: fakeOf<OperatorServices>({}) },
    serving: fakeOf<ServingOptions>({ log }),
  });
  return { log, serve };
}

test('a request of an unknown kind is refused by the name of its kind', async () => {
  const newerText = JSON.stringify({ kind: 'digest', since: '1' });
  const message = 'another node handed over a request unknown here: kind digest';
  await assert.rejects(olderNode().serve(newerText), { code: 'STORE_UNAVAILABLE', message });
});

for (const kind of ['api', 'operator']) {
  test(`a request for an unknown endpoint is refused by its name: ${kind}`, async () => {
    const newerText = JSON.stringify({ kind, method: 'GET', path: '/digest' });
    const message = 'another node handed over a request unknown here: GET /digest';
    await assert.rejects(olderNode().serve(newerText), { code: 'STORE_UNAVAILABLE', message });
  });
}

test('each unknown request is logged once', async () => {
  const { log, serve } = olderNode();
  for (const path of ['/digest', '/digest', '/totals']) {
    const newerText = JSON.stringify({ kind: 'api', method: 'GET', path });
    await assert.rejects(serve(newerText));
  }
  const warning = 'a request of another node is unknown to this release';
  assert.deepEqual(log.warnings, [warning, warning]);
});

test('the caller of an unknown endpoint gets a 503 at once, and may try again after 3 s', async () => {
  const { serve } = olderNode();
  const forwarder = { forward: (_: string, payload: string) => serve(payload) };
  const parts = fakeOf<OperatorRequest & { readonly tenantId: string }>({});
  const nodeRequest = { kind: 'operator', method: 'GET', path: '/digest', parts } as const;
  // The clock stands still, so a follower that waited for the next owner would never answer.
  const follow = ownerFollower({
    forwarder: { ownership: () => 'older 1', ownerMayCome: () => true },
    clock: new FakeClock(),
    random: seededRandom(1),
  });
  const { reply } = await follow({
    tenantId: 'tenant',
    ask: () => forwardToOwner(forwarder, 'tenant', nodeRequest, 2_000),
  });
  assert.deepEqual([reply.status, reply.code], [503, 'SERVICE_UNAVAILABLE']);
  assert.match(reply.headers, /Retry-After: 3\b/);
});
