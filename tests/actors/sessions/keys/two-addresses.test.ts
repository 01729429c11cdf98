/**
 * A person has two addresses, the number and the network's own id. A Signal session that was made under one of them is
 * that of the same device under the other.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionAddress } from '../../../../actors/sessions/session-host.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';
import type { SimulatedNetwork } from '../simulated-network.ts';

const PERSON = '+33622222222';

type Naming = 'lid' | 'pn_only';

/** Lets a person write under that address. Resolves when the shop has the text. */
async function hears(
  { control, host, log }: SimulatedNetwork,
  shop: SessionAddress,
  message: { readonly text: string; readonly addressing: Naming },
): Promise<string> {
  const written = control.write(PERSON, { to: SHOP_PHONE, ...message });
  const { token, text } = await log.next(shop, 'session.inbound');
  host.order(shop, { type: 'confirm', token });
  assert.equal((await written).delivered, true);
  return text;
}

test('a message under the other address is read at once, and so is the answer', async (context) => {
  const retried: string[] = [];
  const { network, shop, outcomeOf } = await pairedShop(
    context,
    {},
    { log: ({ event }) => void retried.push(event) },
  );
  // The network does not return the person's id, so the session is made under the number.
  await network.control.fault(SHOP_PHONE, 'unlisted', 100);
  assert.equal(await hears(network, shop, { text: 'by number', addressing: 'pn_only' }), 'by number');
  await network.control.fault(SHOP_PHONE, 'unlisted', 0);
  assert.equal(await hears(network, shop, { text: 'by id', addressing: 'lid' }), 'by id');
  assert.equal(await hears(network, shop, { text: 'STOP', addressing: 'lid' }), 'STOP');
  assert.equal((await outcomeOf(textOrder('answer', { to: PERSON }))).kind, 'acknowledged');
  await until('it is read', async () => (await network.received(shop, PERSON)).includes('answer'));
  assert.equal(await hears(network, shop, { text: 'and on', addressing: 'lid' }), 'and on');
  assert.deepEqual(
    retried.filter((event) => event.includes('retr') || event.includes('decrypt')),
    [],
    'nobody asked for a message again',
  );
});
