import { customer, textOf } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import { setUpToken } from '../harness/program.ts';
import { type Call, callAll } from '../load/http-calls.ts';
import { inParallel } from '../load/in-parallel.ts';

/**
 * A warm shop may send 41 messages an hour to numbers, and 100 a day to groups. Groups have no limit an hour
 * (docs/contract.md, Send policy). So each third message goes to a group, and a shop can send one a minute.
 */
const GROUP_EACH = 3;
/** Operators may raise the two limits of groups as far as this. */
const GROUP_SETTINGS = { groupsPerDay: 100, groupPerRecipient24h: 5 };
const CALLS_AT_ONCE = 32;

/** The longest run that these limits allow. */
export const MOST_MINUTES = GROUP_SETTINGS.groupsPerDay * GROUP_EACH;

/** Prepares the tenants of shops: inbound texts, the settings of groups, and a webhook with every event. */
export async function prepareTenants(
  side: LiveSide,
  shops: readonly LiveShop[],
  webhookUrl: string,
): Promise<void> {
  const tenantIds = [...new Set(shops.map(({ tenantId }) => tenantId))];
  const calls = tenantIds.flatMap((tenantId, index) => {
    const path = `/admin/v1/tenants/${tenantId}`;
    const token = setUpToken(side.adminToken, index);
    return [
      { method: 'PATCH', path, token, body: { inbound: 'texts', settings: GROUP_SETTINGS } },
      { method: 'POST', path: `${path}/webhooks`, token, body: { url: `${webhookUrl}${tenantId}` } },
    ];
  });
  await callAll(side.adminPort, calls, { connections: 4 });
}

/** Makes the groups that the shops' messages of this number of minutes need. Each has one customer. */
export async function makeGroups(side: LiveSide, shops: readonly LiveShop[], minutes: number): Promise<void> {
  const count = groupsFor(minutes);
  const all = shops.flatMap((shop, index) =>
    Array.from({ length: count }, (_, group) => ({ shop, index, group })),
  );
  await inParallel(all, CALLS_AT_ONCE, ({ shop, index, group }) =>
    side.network.setGroup(groupId(index, group), {
      name: `Regulars ${group}`,
      participants: [shop.phone, customer(index + group)],
      admins: [shop.phone],
    }),
  );
}

/** Returns the message with this number, of the shops in rotation. Each number has its own text and idempotency key. */
export function soakMessage(shops: readonly LiveShop[], turn: number, minutes: number): Call {
  const index = turn % shops.length;
  const minute = Math.floor(turn / shops.length);
  const { id, key } = shops[index] as LiveShop;
  // Shops begin with different thirds, so that each minute has as many messages to groups.
  const third = minute + (index % GROUP_EACH);
  const to =
    third % GROUP_EACH === GROUP_EACH - 1
      ? groupId(index, Math.floor(third / GROUP_EACH) % groupsFor(minutes))
      : customer(index + minute);
  const body = { channel: 'msgapp', to, text: textOf(turn), idempotencyKey: `soak-${turn}` };
  return { method: 'POST', path: `/api/v1/shops/${id}/messages`, token: key, body };
}

function groupsFor(minutes: number): number {
  return Math.ceil(Math.ceil(minutes / GROUP_EACH) / GROUP_SETTINGS.groupPerRecipient24h);
}

function groupId(shop: number, group: number): string {
  return `12036300${String(10_000 + shop)}${String(10_000 + group)}@g.us`;
}
