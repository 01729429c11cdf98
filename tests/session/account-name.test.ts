/** The account of a person tells its name by its settings, not with the linking. Without one contacts see a dash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../e2e/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from './session-conformance.ts';
import { type SimulatedNetwork, startSimulated } from './simulated-network.ts';

const PERSON = '+33622222222';

async function untilShown({ control }: SimulatedNetwork, name: string): Promise<void> {
  await until(`the name ${name} is shown`, async () =>
    (await control.sessions()).items.some(({ shownName }) => shownName === name),
  );
}

test('a session without a business name sends, and shows the name of its account from then on', async () => {
  let network = await startSimulated();
  const shop = newShop();
  try {
    await network.control.nameAccount(SHOP_PHONE, 'Jeanne');
    await pair(network, shop);
    network.host.prepare(shop, textOrder('Hello'));
    const { outcome } = await network.log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'acknowledged' });
    assert.deepEqual(await network.received(shop, PERSON), ['Hello']);
    await untilShown(network, 'Jeanne');
    network = await network.another();
    network.host.open(shop, { generation: 3 });
    await network.log.next(shop, 'session.connected');
    await untilShown(network, 'Jeanne');
    assert.deepEqual(
      network.logged.filter((line) => line.includes('data of the account was not taken')),
      [],
    );
  } finally {
    await network.stop();
  }
});
