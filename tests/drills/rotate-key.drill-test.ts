/**
 * The three steps of rotating `CREDENTIALS_KEY` (docs/running.md, Rotating CREDENTIALS_KEY) on two nodes, one after the
 * other, while shops send and endpoints are called. Between two nodes of different lists each answers for every shop.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { allConnected, type ChaosShop, openShops } from '../chaos/chaos-shops.ts';
import { type Fault, runFault } from '../chaos/scenario.ts';
import { type Fleet, startFleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { until } from '../testbed/waiting.ts';
import { linkedDevices } from './linked-devices.ts';
import { type SignedEndpoint, startSignedEndpoint } from './signed-endpoint.ts';

const SHOPS = 4;
const MESSAGES_PER_STEP = 2;

let fleet: Fleet;
let endpoint: SignedEndpoint;
let shops: readonly ChaosShop[];
let links: ReadonlyMap<string, string>;
before(async () => {
  endpoint = await startSignedEndpoint();
  fleet = await startFleet({ nodes: 2 });
  shops = await openShops(fleet, SHOPS);
  for (const { tenantId } of shops) await endpoint.open(fleet, tenantId);
  links = await linkedDevices(fleet.network);
});
after(async () => {
  await fleet?.stop();
  endpoint?.close();
});

test('the steps of rotating CREDENTIALS_KEY lose no session, no message, no webhook and no forwarded call', async () => {
  const former = fleet.credentialsKey;
  const next = randomBytes(32).toString('base64');
  const { seed } = testEnvironment();
  const random = seededRandom(seed);
  for (const keys of [`${former},${next}`, `${next},${former}`, next]) {
    const run = { fleet, random, shops, messagesPerShop: MESSAGES_PER_STEP, trafficMs: 2_000, timeout: 5 };
    await runFault(run, giveKeys(keys));
  }
  assert.deepEqual(await linkedDevices(fleet.network), links, 'a shop was linked again');
  assert.deepEqual(endpoint.forged, []);
  await until('each end is told to its endpoint', async () => (await untold()).length === 0).catch(async () =>
    assert.deepEqual(await untold(), []),
  );
});

/** A step: every node gets this list, one node after the other. */
function giveKeys(keys: string): Fault {
  return {
    name: `CREDENTIALS_KEY of ${keys.split(',').length}`,
    async inflict() {
      const startedMs = performance.now();
      for (const node of fleet.nodes) {
        assert.equal(await node.end('SIGTERM'), 0);
        await node.start({ settings: { CREDENTIALS_KEY: keys } });
        await fleet.spread();
        await everyNodeAnswers();
      }
      await allConnected(shops);
      return { recoveredMs: performance.now() - startedMs };
    },
  };
}

/** Each node answers for each shop, its own and those that it asks the other node for. */
async function everyNodeAnswers(): Promise<void> {
  for (const node of fleet.nodes) {
    for (const { id, apiKey } of shops) {
      const { status, error } = await node.api(apiKey).get(`/shops/${id}/channels/msgapp`);
      assert.equal(status, 200, `${node.nodeId}: ${JSON.stringify(error)}`);
    }
  }
}

/** Ends of messages of which the endpoint does not know. */
async function untold(): Promise<string[]> {
  const lists = await Promise.all(
    shops.map(async ({ api, id }) => {
      const { data } = await api.get(`/shops/${id}/messages?limit=100`);
      return data.items as { readonly id: string; readonly status: string }[];
    }),
  );
  const ends = lists.flat().map(({ id, status }) => `message.${status} ${id}`);
  assert.equal(ends.length, SHOPS * MESSAGES_PER_STEP * 3);
  return ends.filter((end) => !endpoint.told.has(end));
}
