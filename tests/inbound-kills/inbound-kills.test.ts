/** Inbound messages while nodes die have one event each, in the order of their chat: all kinds, under any address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedFleet } from '../e2e/stack/shared-fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { killAnyNode } from './faults.ts';
import { followAll, mustBeWhole, openTenants, sawEverythingOnce, writeThrough } from './inbound-run.ts';

const MESSAGES = 150;
const KILLS = 2;

const { seed } = testEnvironment();
const random = seededRandom(seed);
const fleet = sharedFleet({ nodes: 2 });

test(`${KILLS * MESSAGES} messages of every kind have one event each, in order, through ${KILLS} kills (seed ${seed})`, async () => {
  const tenants = await openTenants(fleet, 2, random);
  const readers = followAll(tenants);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writeThrough(
      tenants,
      { messages: MESSAGES, inflict: () => killAnyNode(fleet, tenants, random) },
      random,
    );
  }
  assert.equal(await mustBeWhole(tenants), KILLS * MESSAGES);
  await sawEverythingOnce(tenants, readers);
});
