/**
 * A node that stops while an endpoint takes its time records the answer and does not send the event again. A node may
 * also be killed between the answer of an endpoint and its record. Then the event comes once more under the same id,
 * and nothing is lost. The connection to Redis is cut as the first event comes in, so that nothing can be recorded.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sharedEndpoint } from '../../actors/webhooks/shared-endpoint.ts';
import { deferred } from '../../testbed/deferred.ts';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';

const KILLS = 2;

const fleet = sharedFleet({ nodes: 1 });
const received: { readonly id: string; readonly headers: Record<string, string>; readonly body: string }[] =
  [];
/** Called with the end of an answer 204. */
let answered: () => void = () => undefined;
/** Called before an answer, which waits for it. */
let asked: () => void | Promise<void> = () => undefined;

const endpoint = sharedEndpoint(async ({ headers, body }, response) => {
  received.push({ id: headers['webhook-id'] ?? '', headers, body });
  await asked();
  response.on('close', () => answered());
  response.writeHead(204, { connection: 'close' }).end();
});

test(`${KILLS} kills between an answer and its record: each event once more, under its id, and none is lost`, async () => {
  const [node] = fleet.nodes;
  assert.ok(node?.link);
  const { tenantId, shopId } = await makeAccount(fleet.admin);
  const url = `${endpoint.url}/hooks`;
  const { data } = await fleet.admin.post(`/tenants/${tenantId}/webhooks`, { url });
  const steer = (word: 'pause' | 'resume') => fleet.admin.post(`/actors/${tenantId}/${shopId}/${word}`, {});
  for (let kill = 0; kill < KILLS; kill += 1) {
    const countBefore = received.length;
    const done = deferred();
    answered = done.resolve;
    asked = () => node.link?.cut();
    // Its own answer may be cut off with Redis: it is asked again until the node is back, and changes nothing then.
    const steered = steer(kill % 2 === 0 ? 'pause' : 'resume');
    await done.promise;
    assert.equal(await node.end('SIGKILL'), null);
    asked = () => undefined;
    node.link.mend();
    await node.start();
    await steered;
    await until('it came once more', async () => received.length >= countBefore + 2);
    const [first, second] = received.slice(countBefore);
    assert.equal(first?.id, second?.id);
    assert.equal(first?.body, second?.body);
  }
  const attempts = async () => {
    const { data: listed } = await fleet.admin.get(`/tenants/${tenantId}/webhooks/${data.id}/attempts`);
    return listed.items as readonly { eventId: string; error: string | null }[];
  };
  await until('all is recorded', async () => (await attempts()).length === KILLS);
  const ids = new Set(received.map(({ id }) => id));
  assert.deepEqual(new Set((await attempts()).map(({ eventId }) => eventId)), ids);
  assert.equal(ids.size, KILLS, 'every event came');
  for (const { body, headers } of received) new Webhook(String(data.secret)).verify(body, headers);
});

test('SIGTERM while an endpoint answers: its answer is recorded, and the event does not come again', async () => {
  const [node] = fleet.nodes;
  assert.ok(node);
  const { tenantId, shopId } = await makeAccount(fleet.admin);
  const url = `${endpoint.url}/hooks`;
  const { data } = await fleet.admin.post(`/tenants/${tenantId}/webhooks`, { url });
  const countBefore = received.length;
  const begun = deferred();
  const door = new URL(node.apiUrl());
  asked = async () => {
    begun.resolve();
    // The stop has begun once the node no longer listens.
    await until('the node stops', () =>
      fetch(door).then(
        () => false,
        () => true,
      ),
    );
  };
  await fleet.admin.post(`/actors/${tenantId}/${shopId}/pause`, {});
  await begun.promise;
  assert.equal(await node.end('SIGTERM'), 0);
  asked = () => undefined;
  await node.start();
  // The next event proves that all earlier ones were handled.
  await fleet.admin.post(`/actors/${tenantId}/${shopId}/resume`, {});
  const attempts = async () => {
    const { data: listed } = await fleet.admin.get(`/tenants/${tenantId}/webhooks/${data.id}/attempts`);
    return listed.items as readonly { eventId: string; error: string | null }[];
  };
  await until('both are recorded', async () => (await attempts()).length >= 2);
  const ids = received.slice(countBefore).map(({ id }) => id);
  assert.deepEqual([ids.length, new Set(ids).size], [2, 2]);
  assert.deepEqual(
    (await attempts()).map(({ error }) => error),
    [null, null],
  );
});
