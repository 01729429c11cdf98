/**
 * The phone sends its history only once. Its content is stored before the message is acknowledged. So a connection or
 * process that is lost before the history was read loses none of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { until } from '../../../testbed/waiting.ts';
import { newShop, pair, SHOP_PHONE } from '../conformance-network.ts';
import { pairedShop, simulatedNetwork } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const fieldsOf = ({ store }: SimulatedNetwork, kind: string): string[] =>
  [...store.hashes.values()].flatMap((hash) => [...hash.keys()].filter((field) => field.startsWith(kind)));

/** Makes the phone send a history whose file stalls. Resolves with the file once the client asked for it. */
async function tellStalled({ control }: SimulatedNetwork): Promise<string> {
  const { path } = await control.sendHistory(SHOP_PHONE, { mappings: 30, tokens: 10, fault: 'stalled' });
  await until('the file is asked for', async () => (await control.downloads()) > 0);
  await until('its message is acknowledged', async () => {
    const { waiting } = await control.unanswered(SHOP_PHONE);
    return waiting.length === 0;
  });
  return path;
}

/** Waits until the whole history is in the store and no part is pending. */
async function taken(network: SimulatedNetwork, shop: SessionAddress): Promise<void> {
  await until('the history is taken', async () =>
    network.logged.some((line) => line.includes('"mappings":30,"tokens":10')),
  );
  assert.equal(fieldsOf(network, 'lid-mapping/337').length, 30);
  assert.equal(fieldsOf(network, 'tctoken/').filter((field) => field.endsWith('@lid')).length, 10);
  network.host.close(shop);
  await until('nothing waits', async () => fieldsOf(network, 'history-notice/').length === 0);
}

test('a history is read after the connection was lost in the middle of it, and then not again', async (context) => {
  const { network, shop } = await pairedShop(context);
  const path = await tellStalled(network);
  await network.control.fault(SHOP_PHONE, 'drop');
  await network.log.next(shop, 'session.closed');
  await network.control.spoilFile(path, 'none');
  network.host.open(shop, { generation: 3 });
  await taken(network, shop);
});

test('a history is read by the next process if the first one was killed in the middle of it', async (context) => {
  let network = await simulatedNetwork(context);
  const shop = newShop();
  await pair(network, shop);
  const path = await tellStalled(network);
  await network.loseWorker(shop);
  network = await network.another();
  await network.control.spoilFile(path, 'none');
  network.host.open(shop, { generation: 3 });
  await taken(network, shop);
});

test('a file that the network has dropped is not asked for again', async (context) => {
  const { network, shop } = await pairedShop(context);
  await network.control.sendHistory(SHOP_PHONE, { mappings: 30, fault: 'gone' });
  await until('it is not had', async () =>
    network.logged.some((line) => line.includes('data of the account was not taken')),
  );
  network.host.close(shop);
  await until('nothing waits', async () => fieldsOf(network, 'history-notice/').length === 0);
});
