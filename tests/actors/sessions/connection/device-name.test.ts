/** A phone shows the name of each device that is linked to it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulatorEvent } from '../../../../simulator/network.ts';
import { newShop, SHOP_PHONE } from '../conformance-network.ts';
import { simulatedNetwork } from '../paired-shop.ts';

test('a device linked by QR code has the name that is set, and one that shows a code to type its own', async (context) => {
  const events: SimulatorEvent[] = [];
  const network = await simulatedNetwork(
    context,
    { deviceName: 'Bread & Co' },
    { log: (event) => void events.push(event) },
  );
  const names = (): unknown[] =>
    events.flatMap(({ event, name }) => (event === 'a client wants to be linked' ? [name] : []));
  const [byQr, byCode] = [newShop(), newShop()];
  network.host.open(byQr, { generation: 1 });
  await network.log.next(byQr, 'session.qr');
  network.host.open(byCode, { generation: 1, pairWith: SHOP_PHONE.slice(1) });
  await network.log.next(byCode, 'session.pairing_code');
  assert.deepEqual(names(), ['Bread & Co', 'Mac OS']);
});
