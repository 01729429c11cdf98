/** A node that asks the owner of a call whose caller has gone by then. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CallerConnection } from '../../../http/contract/caller-connection.ts';
import { type AskOwnerOptions, askOwner } from '../../../http/owner/ask-owner.ts';
import type { OwnerReply } from '../../../http/owner/owner-reply.ts';
import { WaitsElsewhere } from '../../../http/owner/waits-elsewhere.ts';
import { CallsInProgress } from '../../../http/pipeline/calls-in-progress.ts';
import { hashOfKey } from '../../../http/pipeline/presented-key.ts';
import { listEvents } from '../../../http/tenant-api/events.ts';
import type { ApiServices } from '../../../http/tenant-api/services.ts';
import { Counts } from '../../../runtime/counts.ts';
import { seededRandom } from '../../testbed/seeded-random.ts';
import { localForwarder, type ServiceFixture, startService, targetOf } from '../service-fixture.ts';

let owner: ServiceFixture;
before(async () => {
  owner = await startService();
});
after(() => owner?.stop());

/** The options of a node beside the owner. */
function besideOwner({ serveForwarded }: ServiceFixture): AskOwnerOptions<ApiServices> {
  return {
    services: undefined as never,
    serving: undefined as never,
    forwarder: {
      ...localForwarder,
      ownerIsLocal: () => false,
      forward: (_, payload) => serveForwarded(payload),
    },
    follow: async ({ ask }) => ask(0),
    random: seededRandom(1),
    inProgress: new CallsInProgress(8),
    callsOfTenants: new Counts(),
    waitsElsewhere: new WaitsElsewhere(),
  };
}

test('a call whose caller has gone before the owner is asked does not wait there', async () => {
  const target = await targetOf(owner);
  const { id, key } = await target.tenant();
  const connection = new CallerConnection();
  connection.leave();
  const request = {
    tenantId: id,
    keyHash: hashOfKey(key) ?? '',
    ip: '127.0.0.1',
    values: [],
    query: 'waitMs=29000',
    contentType: '',
    body: '',
    idempotencyKey: '',
    requestId: 'gone',
    traceparent: undefined,
    connection,
  };
  const answer: { reply?: OwnerReply } = {};
  void askOwner(listEvents, request, besideOwner(owner)).then((reply) => {
    answer.reply = reply;
  });
  const startedMs = performance.now();
  while (answer.reply === undefined && performance.now() - startedMs < 10_000) await nextTurn();
  assert.deepEqual([answer.reply?.reply.status, owner.eventWaiters.count], [200, 0]);
  target.close();
});
