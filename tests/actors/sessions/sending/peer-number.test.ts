/** A message to a person's id of the network names the number that the network has for the person, or none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const WRITER = '+33622222299';
const [DIALLED, KNOWN] = ['+5531996348800', '+553196348800'];

test('a person without a known number is answered, and one with two numbers once more after a cut', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  const outcome = async () => (await log.next(shop, 'session.send_outcome')).outcome;
  await control.write(WRITER, { to: SHOP_PHONE, text: 'Hello', addressing: 'lid_only', wait: false });
  const { token } = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'confirm', token });
  const { lid } = await control.setNumber(WRITER, true);
  host.order(shop, { type: 'prepare', order: textOrder('an answer', { to: lid }) });
  assert.deepEqual(await outcome(), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, WRITER), ['an answer']);

  await network.addForm(KNOWN, DIALLED);
  await control.fault(SHOP_PHONE, 'lost', 1);
  host.order(shop, { type: 'prepare', order: textOrder('once more', { to: DIALLED }) });
  await until('it left', async () => (await control.sessions()).items[0]?.sent.lost === 1);
  await control.fault(SHOP_PHONE, 'drop');
  await log.next(shop, 'session.closed');
  host.open(shop, { generation: 3 });
  assert.deepEqual(await outcome(), { kind: 'acknowledged' });
  assert.deepEqual(await network.received(shop, KNOWN), ['once more']);
});
