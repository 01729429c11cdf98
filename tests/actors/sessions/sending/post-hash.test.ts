/**
 * A post names its devices by a hash, and the network compares it with that of the group's devices. If they differ, the
 * session looks up the group and its members' devices again before its next post.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import type { SimulatorEvent } from '../../../../simulator/network.ts';
import { linkedClient, type TestClient } from '../../../simulator/test-client.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const GROUP = '120363000000000777@g.us';
const MEMBERS = ['+33644000011', '+33644000012'];

for (const addressingMode of ['lid', 'pn'] as const) {
  test(`a client that a member linked meanwhile gets the key with the post after the next one (${addressingMode})`, async (context) => {
    const events: SimulatorEvent[] = [];
    const { network, shop } = await pairedShop(context, {}, { log: (event) => void events.push(event) });
    await putGroup(network, MEMBERS, { addressingMode });
    await post(network, shop, 'alike');
    assert.deepEqual(differences(events), [], 'the network computes the same hash');
    const [member = ''] = MEMBERS;
    const client = await linkedClient(network.simulator, (qr) => network.control.scan(qr, member));
    await post(network, shop, 'without the client');
    await reads(client, 'without the client');
    assert.equal(differences(events).length, 1);
    const askedCount = retries(events).length;
    assert.ok(askedCount > 0);
    await post(network, shop, 'with the client');
    await reads(client, 'with the client');
    assert.equal(differences(events).length, 1);
    assert.equal(retries(events).length, askedCount, 'it had the key');
    await client.end();
  });
}

test('a group that is another than the session knows is asked for after the next post, once in five minutes', async (context) => {
  const events: SimulatorEvent[] = [];
  const { network, shop } = await pairedShop(context, {}, { log: (event) => void events.push(event) });
  const count = async (): Promise<number | undefined> =>
    (await network.log.next(shop, 'session.groups')).groups.find(({ id }) => id === GROUP)?.participantCount;
  await putGroup(network, MEMBERS);
  while ((await count()) !== 3);
  // The session looks the group up a moment after the notice about it.
  await until('the group was asked for', async () => lookUps(events) > 0);
  const before = lookUps(events);
  await putGroup(network, [...MEMBERS, '+33644000013'], { untold: true });
  await post(network, shop, 'to three');
  while ((await count()) !== 4);
  await putGroup(network, MEMBERS, { untold: true });
  await post(network, shop, 'to four');
  await post(network, shop, 'to four again');
  assert.equal(differences(events).length, 3);
  assert.equal(lookUps(events), before + 1);
});

const differences = (events: readonly SimulatorEvent[]): SimulatorEvent[] =>
  events.filter(({ event }) => event === 'a post to other devices');
const lookUps = (events: readonly SimulatorEvent[]): number =>
  events.filter(({ event }) => event === 'group asked for').length;
const retries = (events: readonly SimulatorEvent[]): SimulatorEvent[] =>
  events.filter(({ event }) => event === 'retry asked');

const reads = (client: TestClient, text: string): Promise<boolean> =>
  client.until(text, () => client.messages.some(({ message }) => JSON.stringify(message)?.includes(text)));

async function putGroup(
  { control }: SimulatedNetwork,
  members: readonly string[],
  more: { addressingMode?: 'lid' | 'pn'; untold?: boolean } = {},
): Promise<void> {
  const participants = [SHOP_PHONE, ...members];
  await control.setGroup(GROUP, { name: 'Some', participants, admins: [SHOP_PHONE], ...more });
}

async function post({ host, log }: SimulatedNetwork, shop: SessionAddress, text: string): Promise<void> {
  host.order(shop, { type: 'prepare', order: textOrder(text, { to: GROUP }) });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
}
