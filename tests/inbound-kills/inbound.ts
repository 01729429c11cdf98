/**
 * `npm run test:inbound -- --messages=… --kills=…`: people write messages of every kind while nodes are killed and
 * Redis fails over. Each must have one event, in its chat's order. By default there are 10,000 messages and ten kills
 * of a node. One failover keeps every connection, and one loses writes of the last master. Exits 1 if a message is
 * missing, doubled or out of order. TEST_SEED repeats the messages and the moments.
 */
import { parseArgs } from 'node:util';
import { startFleet } from '../e2e/stack/fleet.ts';
import { seededRandom } from '../testbed/seeded-random.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import { pause } from '../testbed/waiting.ts';
import { changeRoles, killAnyNode, loseMaster } from './faults.ts';
import { followAll, mustBeWhole, openTenants, sawEverythingOnce, writeThrough } from './inbound-run.ts';

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '10' },
    tenants: { type: 'string', default: '4' },
  },
});
const kills = Number(values.kills);
const { seed } = testEnvironment();
const random = seededRandom(seed);
const startedMs = performance.now();
const say = (line: string): void =>
  console.log(`${String(Math.round((performance.now() - startedMs) / 1_000)).padStart(5)} s  ${line}`);
/** For this time the replica gets none of the writes of the master that is lost. */
const BEHIND_MS = 2_000;

say(`seed ${seed}: ${values.messages} messages, ${kills} kills and two failovers`);
// With the durability `replica` no message that was acknowledged to the network is lost with a master.
const environment = { SEND_DURABILITY: 'replica' };
const fleet = await startFleet({ nodes: 3, redis: 'pair', environment });
try {
  const tenants = await openTenants(fleet, Number(values.tenants), random);
  const readers = followAll(tenants);
  const messages = Math.ceil(Number(values.messages) / (kills + 2));
  const through = async (title: string, inflict: () => Promise<void>): Promise<void> => {
    say(`${title} …`);
    await writeThrough(tenants, { messages, inflict }, random);
    say(`${title}: ${messages} messages came through`);
  };
  for (let kill = 1; kill <= kills; kill += 1) {
    if (kill === Math.ceil(kills / 2))
      await through('a failover that keeps connections', () => changeRoles(fleet, tenants));
    await through(`kill ${kill}`, () => killAnyNode(fleet, tenants, random));
  }
  // From here on a reader may see what Redis forgets.
  await sawEverythingOnce(tenants, readers);
  await through('a failover that loses writes', () => loseMaster(fleet, tenants, () => pause(BEHIND_MS)));
  say(`${await mustBeWhole(tenants)} messages, each told once and in order`);
} finally {
  await fleet.stop();
}
process.exit(0);
