import { MINUTE_MS } from '../../runtime/durations.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { untilConnected } from '../e2e/stack/shop-steps.ts';
import type { ToldTenant } from './inbound-run.ts';

/** Far longer than a take-over takes: how long it took is no question here. */
const WELL_MS = 5 * MINUTE_MS;

/** SIGKILL of any node; the others take over, then it comes back. */
export async function killAnyNode(
  fleet: Fleet,
  tenants: readonly ToldTenant[],
  random: () => number,
): Promise<void> {
  const node = fleet.nodes[Math.floor(random() * fleet.nodes.length)];
  if (node === undefined) throw new Error('a fleet has nodes');
  await node.end('SIGKILL');
  await untilWell(fleet, tenants);
  await node.start();
  await fleet.spread();
}

/** Redis and its replica change roles and keep every connection; the address follows. */
export async function changeRoles(fleet: Fleet, tenants: readonly ToldTenant[]): Promise<void> {
  const pair = pairOf(fleet);
  await pair.changeRoles();
  leadToMaster(fleet);
  await untilWell(fleet, tenants);
}

/** Makes the replica fall behind, then loses the master permanently, with all data that only it had. */
export async function loseMaster(
  fleet: Fleet,
  tenants: readonly ToldTenant[],
  behind: () => Promise<void>,
): Promise<void> {
  const pair = pairOf(fleet);
  await pair.part();
  await behind();
  await pair.loseMaster();
  leadToMaster(fleet);
  // Without a replica nothing is committed, and the network delivers all of it again.
  await pair.rejoin();
  await untilWell(fleet, tenants);
}

function pairOf({ pair }: Fleet): NonNullable<Fleet['pair']> {
  if (pair === undefined) throw new Error('the fault needs a Redis with a replica');
  return pair;
}

function leadToMaster(fleet: Fleet): void {
  for (const { link } of fleet.nodes) link?.moveTo(pairOf(fleet).master().socketPath);
}

async function untilWell(fleet: Fleet, tenants: readonly ToldTenant[]): Promise<void> {
  await fleet.spread(WELL_MS);
  for (const { api, shopIds } of tenants)
    for (const shopId of shopIds) await untilConnected({ api }, shopId, { withinMs: WELL_MS });
}
