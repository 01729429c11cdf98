/** The shop's own linked device: the network names it at a login, and among the members of a group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import type { SimulatorEvent } from '../../../../simulator/network.ts';
import { linkedClient, type TestClient } from '../../../simulator/test-client.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const GROUP = '120363000000000777@g.us';
const MEMBER = '+33644000001';

test('a session keeps the LID of its pairing if a login does not name it', async (context) => {
  const events: SimulatorEvent[] = [];
  const { network, shop, host, log, control, outcomeOf } = await pairedShop(
    context,
    {},
    { log: (event) => void events.push(event) },
  );
  const participants = [SHOP_PHONE, MEMBER];
  await control.setGroup(GROUP, { name: 'Some', participants, admins: [SHOP_PHONE] });
  await control.fault(SHOP_PHONE, 'no_lid', 1);
  await control.fault(SHOP_PHONE, 'drop');
  await log.next(shop, 'session.closed');
  host.open(shop, { generation: 3 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  for (const to of [MEMBER, GROUP])
    assert.deepEqual(await outcomeOf(textOrder(`to ${to}`, { to })), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, MEMBER), [`to ${MEMBER}`, `to ${GROUP}`]);
  assertOthersAsked(events);
});

test('the phone of the shop has a copy of each sent message, also if a login names the LID without the device', async (context) => {
  const events: SimulatorEvent[] = [];
  const { network, shop, host, log, control } = await pairedShop(
    context,
    {},
    { log: (event) => void events.push(event) },
  );
  const copies = (): number => events.filter(({ event }) => event === 'own phone has a copy').length;
  await send(network, shop, 'first');
  assert.equal(copies(), 1);
  await control.fault(SHOP_PHONE, 'bare_lid', 1);
  await control.fault(SHOP_PHONE, 'drop');
  await log.next(shop, 'session.closed');
  host.open(shop, { generation: 3 });
  await log.next(shop, 'session.connected', ({ generation }) => generation === 3);
  await send(network, shop, 'second');
  assert.equal(copies(), 2);
  assertOthersAsked(events);
});

test('a post to a group fetches no keys for the shop’s own linked device', async (context) => {
  const events: SimulatorEvent[] = [];
  const { network, shop, control, outcomeOf } = await pairedShop(
    context,
    {},
    { log: (event) => void events.push(event) },
  );
  const participants = [SHOP_PHONE, MEMBER];
  await control.setGroup(GROUP, { name: 'Some', participants, addressingMode: 'lid' });
  for (const text of ['first', 'second'])
    assert.deepEqual(await outcomeOf(textOrder(text, { to: GROUP })), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, MEMBER), ['first', 'second']);
  assertOthersAsked(events);
});

test('a post to a group that names its members by number takes one key of each, and one in another process none', async (context) => {
  const events: SimulatorEvent[] = [];
  let network = await simulatedNetwork(context, {}, { log: (event) => void events.push(event) });
  const shop = newShop();
  const { control } = network;
  const members = ['+33644000021', '+33644000022', '+33644000023'];
  await pair(network, shop);
  const participants = [SHOP_PHONE, ...members];
  await control.setGroup(GROUP, { name: 'Some', participants, addressingMode: 'pn' });
  const post = async (text: string): Promise<void> => {
    network.host.order(shop, { type: 'prepare', order: textOrder(text, { to: GROUP }) });
    const { outcome } = await network.log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'acknowledged' });
  };
  await post('first');
  network = await network.another();
  network.host.open(shop, { generation: 3 });
  await network.log.next(shop, 'session.connected');
  await post('second');
  for (const member of members) assert.deepEqual(await network.received(shop, member), ['first', 'second']);
  const asked = events
    .filter(({ event }) => event === 'keys asked for')
    .map(({ address }) => String(address));
  const others = asked.filter((address) => !address.startsWith(SHOP_PHONE.slice(1)));
  assert.equal(new Set(others).size, others.length, JSON.stringify(asked));
  assert.ok(others.length <= members.length + 1, JSON.stringify(asked));
});

test('the shop’s own devices are requested once for many messages, and again when the network reports a change', async (context) => {
  let secondClient: TestClient | undefined;
  context.after(() => secondClient?.end());
  const events: SimulatorEvent[] = [];
  // The lists of other people expire at once, as if a long time went by between two messages.
  const { network, shop, simulator, control } = await pairedShop(
    context,
    { timing: { devicesMs: 0 } },
    { log: (event) => void events.push(event) },
  );
  const requests = (isOwn: boolean): number =>
    events.filter(
      (event) =>
        event.event === 'devices asked for' &&
        event.companion === `${SHOP_PHONE.slice(1)}:1` &&
        event.isOwn === isOwn,
    ).length;
  await send(network, shop, 'first');
  const before = requests(false);
  for (let index = 0; index < 5; index += 1) await send(network, shop, `next ${index}`);
  assert.ok(requests(false) >= before + 5, 'those of others were requested each time');
  assert.equal(requests(true), 1);
  secondClient = await linkedClient(simulator, (qr) => control.scan(qr, SHOP_PHONE));
  await until('the session took the change', async () => {
    const { unacknowledged } = await control.unanswered(SHOP_PHONE);
    return unacknowledged.every(({ type }) => type !== 'account_sync');
  });
  const own = requests(true);
  await send(network, shop, 'for the new device too');
  assert.equal(requests(true), own + 1);
  await secondClient.received('for the new device too');
});

async function send({ host, log }: SimulatedNetwork, shop: SessionAddress, text: string): Promise<void> {
  host.order(shop, { type: 'prepare', order: textOrder(text, { to: MEMBER }) });
  assert.deepEqual((await log.next(shop, 'session.send_outcome')).outcome, { kind: 'acknowledged' });
}

/**
 * Asserts that the session asked for keys of other devices, and never for those of its own. It knows its own by its
 * LID.
 */
function assertOthersAsked(events: readonly SimulatorEvent[]): void {
  const askedEvents = events.filter(({ event }) => event === 'keys asked for');
  assert.ok(askedEvents.length > 0);
  assert.ok(
    askedEvents.every(({ isOwn }) => isOwn === false),
    JSON.stringify(askedEvents),
  );
}
