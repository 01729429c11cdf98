/**
 * Nodes of the last release and of this tree side by side under traffic, forward and back. Also the error of a node
 * that was rolled back to before a stored form that it does not know.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { allConnected, type ChaosShop, openShops } from '../chaos/chaos-shops.ts';
import { type Fault, homeOf, runFault } from '../chaos/scenario.ts';
import { type Fleet, type FleetNode, startFleet } from '../e2e/stack/fleet.ts';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { until } from '../testbed/waiting.ts';
import { type Build, lastRelease, nextForm, present } from './builds.ts';

const SHOPS = 6;
const MESSAGES_PER_STEP = 2;

/** The changelog's text for a release whose nodes cannot talk to those of the release before it. */
const unreleased = /^## Unreleased\n([\s\S]*?)^## /m.exec(readRepositoryFile('CHANGELOG.md'))?.[1] ?? '';
const hearEachOther = !unreleased.includes('do not understand each other');

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'two-builds-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the last release and this tree, side by side under traffic, forward and back', async (context) => {
  const formerBuild = lastRelease(folder);
  context.diagnostic(`${formerBuild.name}; nodes hear each other: ${hearEachOther}`);
  const fleet = await startFleet({ nodes: 2, program: formerBuild.program });
  context.after(() => fleet.stop());
  const shops = await openShops(fleet, SHOPS);
  const random = seededRandom(testEnvironment().seed);
  for (const build of [present, formerBuild]) {
    for (const node of fleet.nodes) {
      const run = {
        fleet,
        random,
        shops,
        messagesPerShop: MESSAGES_PER_STEP,
        trafficMs: 3_000,
        timeout: 5,
      };
      context.diagnostic(JSON.stringify(await runFault(run, replace(node, build, { fleet, shops }))));
    }
  }
});

test('a node older than a stored form refuses its shops with one error, and loses nothing', async (context) => {
  const next = nextForm(folder);
  const fleet = await startFleet({ nodes: 1, program: next.program });
  context.after(() => fleet.stop());
  const [node] = fleet.nodes;
  const [shop] = await openShops(fleet, 1);
  assert.ok(node && shop);
  const [to = ''] = shop.freshRecipients;
  const sentAnswer = await sendText(shop, shop.id, { to, text: 'Before', idempotencyKey: 'before' });
  await untilStatus(shop, String(sentAnswer.data.id), 'sent');
  await restart(node, present);
  const refusedAnswer = await node.api(shop.apiKey).get(`/shops/${shop.id}/channels/msgapp`);
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [503, 'SERVICE_UNAVAILABLE']);
  assert.equal((await node.api(shop.apiKey).get('/me')).status, 200, 'the tenant is answered as ever');
  await until('the log says why', async () =>
    /a shop was stored in version \d+, newer than this program's \d+/.test(node.log()),
  );
  await restart(node, next);
  await allConnected([shop]);
  assert.equal((await shop.api.get(`/messages/${sentAnswer.data.id}`)).data.status, 'sent');
});

async function restart(node: FleetNode, { program }: Build): Promise<void> {
  assert.equal(await node.end('SIGTERM'), 0);
  await node.start({ program });
}

/** Puts a node of another build in the place of one. */
function replace(
  node: FleetNode,
  build: Build,
  { fleet, shops }: { readonly fleet: Fleet; readonly shops: readonly ChaosShop[] },
): Fault {
  return {
    name: `${node.nodeId} is of ${build.name}`,
    async inflict() {
      const startedMs = performance.now();
      await restart(node, build);
      await fleet.spread();
      await allConnected(shops);
      const recoveredMs = performance.now() - startedMs;
      return { recoveredMs, note: `${await forwardedCalls(fleet, shops)} calls were forwarded` };
    },
  };
}

/** Each node is asked for each shop. Returns how many of these calls another node owned. */
async function forwardedCalls(fleet: Fleet, shops: readonly ChaosShop[]): Promise<number> {
  let forwarded = 0;
  for (const shop of shops) {
    const home = await homeOf(fleet, shop);
    for (const node of fleet.nodes) {
      const { status, error } = await node.api(shop.apiKey).get(`/shops/${shop.id}/channels/msgapp`);
      const isForwarded = node.nodeId !== home;
      if (isForwarded) forwarded += 1;
      const expected = isForwarded && !hearEachOther ? [503, 200] : [200];
      assert.ok(expected.includes(status), `${node.nodeId}: ${status} ${JSON.stringify(error)}`);
    }
  }
  return forwarded;
}
