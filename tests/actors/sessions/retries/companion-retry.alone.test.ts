/**
 * A linked device of a recipient could not read a message, and asks for it again. The answer is for that device alone.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import type { SimulatorEvent } from '../../../../simulator/network.ts';
import { linkedClient, type TestClient } from '../../../simulator/test-client.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';
const OTHER = '+33633333333';
const SHOP = `${SHOP_PHONE.slice(1)}@s.whatsapp.net`;
/** The number of answers that one chat gets at once, before the rate limit applies. */
const BURST = 20;

/** A linked device of a person. It has lost its Signal session with the shop, and cannot read the shop's messages. */
async function forgetfulDevice(network: SimulatedNetwork, shop: SessionAddress): Promise<TestClient> {
  const { simulator, control, host, log } = network;
  const device = await linkedClient(simulator, (qr) => control.scan(qr, PERSON));
  const forget = device.auth.snapshot();
  host.order(shop, { type: 'prepare', order: textOrder('read at once') });
  assert.equal((await log.next(shop, 'session.send_outcome')).outcome.kind, 'acknowledged');
  await device.received('read at once');
  await device.socket.sendMessage(SHOP, { text: 'Thanks' });
  const { token } = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'confirm', token });
  forget();
  return device;
}

async function send(
  { host, log }: SimulatedNetwork,
  shop: SessionAddress,
  text: string,
  to = PERSON,
): Promise<void> {
  host.order(shop, { type: 'prepare', order: textOrder(text, { to }) });
  const { outcome } = await log.next(shop, 'session.send_outcome');
  assert.deepEqual(outcome, { kind: 'acknowledged' });
}

/** Returns how many stanzas and deliveries the shop's client has sent. */
async function sent({ control }: SimulatedNetwork): Promise<{ stanzas: number; deliveries: number }> {
  const session = (await control.sessions()).items.find(({ phone }) => phone === SHOP_PHONE);
  const { stanzas = 0, deliveries = 0 } = session?.sent ?? {};
  return { stanzas, deliveries };
}

for (const isAfterReconnect of [false, true]) {
  const titleEnd = isAfterReconnect ? ', also by the next process' : '';
  test(`a linked device that cannot read a message gets it again, and the phone does not${titleEnd}`, async (context) => {
    let device: TestClient | undefined;
    context.after(() => device?.end());
    const { network: first, shop } = await pairedShop(context);
    let network = first;
    device = await forgetfulDevice(first, shop);
    if (isAfterReconnect) await device.end();
    const before = await sent(network);
    await send(network, shop, 'unreadable at first');
    if (isAfterReconnect) {
      network = await first.another();
      network.host.open(shop, { generation: 3 });
      await network.log.next(shop, 'session.connected');
      device = device.again();
    }
    await device.received('unreadable at first');
    const { stanzas, deliveries } = await sent(network);
    const answers = stanzas - before.stanzas - 1;
    assert.ok(answers > 0);
    // The message itself goes to the phone, to the linked device and to the shop's own phone.
    assert.equal(deliveries - before.deliveries, 3 + answers);
    const { items } = await network.control.inbox(PERSON);
    assert.deepEqual(
      items.map(({ text, duplicates }) => [text, duplicates]),
      [
        ['read at once', 0],
        ['unreadable at first', 0],
      ],
    );
    await send(network, shop, 'and on');
    await device.received('and on');
  });
}

test(`a linked device that asks for many messages gets ${BURST} answers at once, and other chats go on`, async (context) => {
  let back: TestClient | undefined;
  context.after(() => back?.end());
  const askedEvents: SimulatorEvent[] = [];
  const { network, shop } = await pairedShop(
    context,
    { timing: { resendEveryMs: 10 * MINUTE_MS } },
    { log: (event) => void (event.event === 'retry asked' && askedEvents.push(event)) },
  );
  const device = await forgetfulDevice(network, shop);
  back = device;
  await device.end();
  // Each is asked for at least once.
  const count = BURST + 10;
  for (let index = 0; index < count; index += 1) await send(network, shop, `unreadable ${index}`);
  const before = await sent(network);
  back = device.again();
  await until('the device asked for all', async () => askedEvents.length >= count);
  await send(network, shop, 'to another', OTHER);
  assert.equal((await sent(network)).stanzas, before.stanzas + BURST + 1);
});
