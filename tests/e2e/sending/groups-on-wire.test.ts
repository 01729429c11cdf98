/** Posts to groups whose members or addresses are not what the session knows, from the wire to the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulatorEvent } from '../../../simulator/network.ts';
import { until } from '../../testbed/waiting.ts';
import { sharedStack } from '../stack/shared-stack.ts';
import { acceptedText, connectShop, untilEnded, untilStatus } from '../stack/shop-steps.ts';

const SHOP_PHONE = '+33611110001';
const MEMBERS = ['+33622220001', '+33622220002'];
const KEYLESS = '+33622220003';
const NEWCOMER = '+33622220004';
const CUSTOMER = '+33622220005';
const group = (index: number): string => `12036300000000000${index}@g.us`;

const stack = sharedStack({ simulation: { log: (event) => void events.push(event) } }, async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [KEYLESS, CUSTOMER] });
  await connectShop(stack, stack.shopId, SHOP_PHONE);
});
const events: SimulatorEvent[] = [];

const putGroup = (id: string, members: readonly string[], more: object = {}) =>
  stack.network.setGroup(id, {
    name: 'Regulars',
    participants: [SHOP_PHONE, ...members],
    admins: [SHOP_PHONE],
    ...more,
  });

async function send(to: string, text: string): Promise<string> {
  return acceptedText(stack, stack.shopId, { to, text });
}

const post = async (to: string, text: string) => untilStatus(stack, await send(to, text), 'sent');

const textsOf = async (phone: string): Promise<unknown[]> =>
  (await stack.network.inbox(phone)).items.map(({ text, duplicates }) => [text, duplicates]);

/** Resolves once the shop's list of groups has the group with that number of members. */
async function untilListed(groupId: string, members: number): Promise<void> {
  await until(`the group has ${members} members`, async () => {
    const { data } = await stack.api.get(`/shops/${stack.shopId}/groups`);
    const items = data.items as { id: string; participantCount: number }[] | undefined;
    return items?.find(({ id }) => id === groupId)?.participantCount === members;
  });
}

/** Makes a group, and waits until the session knows it and will not ask for it again by itself. */
async function makeGroup(id: string, members: readonly string[]): Promise<void> {
  const askedSoFar = lookUps();
  await putGroup(id, members);
  await untilListed(id, members.length + 1);
  // The notice of the group is asked about a moment after it came.
  await until('the group was asked for', async () => lookUps() > askedSoFar);
}

const lookUps = (): number => events.filter(({ event }) => event === 'group asked for').length;

async function refusals(code: string): Promise<number> {
  const answer = await fetch(`${stack.adminUrl()}/metrics`, {
    headers: { authorization: `Bearer ${stack.adminToken}` },
  });
  const line = new RegExp(`^msgapi_session_outcomes_total\\{outcome="refused",code="${code}"\\} (\\d+)`, 'm');
  return Number(line.exec(await answer.text())?.[1] ?? 0);
}

test('a throttled request for one member’s keys neither prevents a post to the group nor pauses the shop', async () => {
  await makeGroup(group(1), [...MEMBERS, KEYLESS]);
  await stack.network.refuseKeys(KEYLESS, 429);
  await post(group(1), 'Fresh at eight');
  for (const member of MEMBERS) assert.deepEqual(await textsOf(member), [['Fresh at eight', 0]]);
  const alone = await send(KEYLESS, 'Your bread is ready');
  await post(CUSTOMER, 'Your bread is ready');
  const { status, reason } = await untilEnded(stack, alone);
  assert.deepEqual([status, reason], ['failed', 'SEND_REFUSED']);
  const { queue } = (await stack.api.get(`/shops/${stack.shopId}/policy`)).data as {
    queue: { pausedBy: string | null };
  };
  assert.equal(queue.pausedBy, null);
  assert.deepEqual(await textsOf(KEYLESS), []);
  await stack.network.refuseKeys(KEYLESS, 0);
  await post(group(1), 'Fresh at nine');
  await until('the member reads again', async () =>
    (await stack.network.inbox(KEYLESS)).items.some(({ text }) => text === 'Fresh at nine'),
  );
});

test('a group that moved to another kind of address reads the post once; a second refusal is final', async () => {
  const [member = ''] = MEMBERS;
  await makeGroup(group(2), [member]);
  await putGroup(group(2), [member], { addressingMode: 'pn', untold: true });
  await post(group(2), 'Moved');
  const moved = (await textsOf(member)).filter((entry) => String(entry).startsWith('Moved'));
  assert.deepEqual(moved, [['Moved', 0]]);
  assert.equal(await refusals('421'), 0);
  await stack.network.ackErrors(SHOP_PHONE, 421, 2);
  const { status, reason } = await untilEnded(stack, await send(group(2), 'Refused twice'));
  assert.deepEqual([status, reason], ['failed', 'SEND_REFUSED']);
  assert.equal(await refusals('421'), 1);
});

test('a member who was not announced is found by the first post, and reads the next one', async () => {
  const [member = ''] = MEMBERS;
  await makeGroup(group(3), [member]);
  await putGroup(group(3), [member, NEWCOMER], { untold: true });
  await post(group(3), 'Before');
  await untilListed(group(3), 3);
  await post(group(3), 'After');
  assert.deepEqual(await textsOf(NEWCOMER), [['After', 0]]);
});
