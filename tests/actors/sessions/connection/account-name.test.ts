/** A linked device gets the name of its account with the account's settings. Until then contacts see a dash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proto } from '@whiskeysockets/baileys';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';

async function untilShown({ control }: SimulatedNetwork, name: string): Promise<void> {
  await until(`the name ${name} is shown`, async () =>
    (await control.sessions()).items.some(({ shownName }) => shownName === name),
  );
}

test('a session without a business name sends, and shows the name of its account from then on', async (context) => {
  let network = await simulatedNetwork(context);
  const shop = newShop();
  await network.control.nameAccount(SHOP_PHONE, 'Jeanne');
  await pair(network, shop);
  network.host.order(shop, { type: 'prepare', order: textOrder('Hello') });
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
});

/** The most keys of an account's settings that are kept. */
const MOST_KEYS = 1_000;
const MORE = 7;

test(`the newest ${MOST_KEYS} keys that the phone shares for its settings are kept, sealed`, async (context) => {
  const { network } = await pairedShop(context);
  const names = (): string[] =>
    [...network.store.hashes].flatMap(([key, hash]) =>
      key.endsWith(':credentials') ? [...hash.keys()] : [],
    );
  const field = (index: number): string =>
    `app-state-sync-key/${Buffer.from(`key ${index}`).toString('base64')}`;
  const fingerprint = { rawId: 1, currentIndex: 0, deviceIndexes: [0] };
  const secret = (index: number): Buffer =>
    Buffer.from(`the secret of key ${String(index).padStart(14, '0')}`);
  const share = async (from: number, count: number): Promise<void> => {
    const keys = Array.from({ length: count }, (_, index) => ({
      keyId: { keyId: Buffer.from(`key ${from + index}`) },
      keyData: { keyData: secret(from + index), fingerprint, timestamp: 1 },
    }));
    const type = proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE;
    const message = { protocolMessage: { type, appStateSyncKeyShare: { keys } } };
    await network.control.sendOwn(SHOP_PHONE, proto.Message.encode(message).finish());
    await until('the last key is stored', async () => names().includes(field(from + count - 1)));
  };
  await share(0, MOST_KEYS);
  assert.ok(names().includes(field(0)));
  await share(MOST_KEYS, MORE);
  const keptNames = names().filter((name) => name.startsWith('app-state-sync-key/a2V5'));
  assert.deepEqual([keptNames.length, names().includes(field(MORE - 1))], [MOST_KEYS, false]);
  for (const hash of network.store.hashes.values()) {
    for (const value of hash.values())
      assert.ok(!value.includes(secret(MORE)) && !value.includes(secret(MORE).toString('base64')));
  }
});
