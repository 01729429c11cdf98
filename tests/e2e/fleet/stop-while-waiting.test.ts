/** A node that is stopped while calls that it took wait for events at the node which owns their tenant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { makeAccount } from '../stack/account.ts';
import { sharedFleet } from '../stack/shared-fleet.ts';

const CALLS = 5;

const fleet = sharedFleet({ nodes: 2 });

test('a node that is stopped answers the calls that wait at another, early and empty', async () => {
  const { apiKey } = await makeAccount(fleet.admin);
  const { nextCursor } = (await fleet.api(apiKey).get('/events')).data;
  const waits = () => Promise.all(fleet.nodes.map((node) => node.metric('msgapi_event_waits')));
  const waiting = fleet.nodes.map((node) =>
    Promise.all(
      Array.from({ length: CALLS }, () => node.api(apiKey).get(`/events?cursor=${nextCursor}&waitMs=30000`)),
    ),
  );
  // All wait at the owner, those that the other node took as well.
  await until('all calls wait', async () => (await waits()).includes(2 * CALLS));
  const other = (await waits()).indexOf(0);

  assert.equal(await fleet.nodes[other]?.end('SIGTERM'), 0);
  for (const { status, data, error } of (await waiting[other]) ?? []) {
    assert.equal(status, 200, JSON.stringify(error));
    assert.deepEqual(data, { items: [], nextCursor });
  }
  assert.equal(await fleet.nodes[1 - other]?.end('SIGTERM'), 0);
  for (const { status, data } of (await waiting[1 - other]) ?? [])
    assert.deepEqual([status, data], [200, { items: [], nextCursor }]);
});
