/**
 * Notifications about devices, identities and the account are acknowledged. Messages still go both ways afterwards,
 * also to a phone that was set up again.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CONTACT_NOTICES, OWN_NOTICES } from '../../../../simulator/to-clients/account-notices.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const PERSON = '+33622222222';
const GROUP = '120363000000000777@g.us';

test('a notification of each kind is acknowledged, and the person behind it is written to and heard', async (context) => {
  const { network, shop, host, log, control } = await pairedShop(context);
  const sends = async (text: string, to = PERSON): Promise<void> => {
    host.order(shop, { type: 'prepare', order: textOrder(text, { to }) });
    const { outcome } = await log.next(shop, 'session.send_outcome');
    assert.deepEqual(outcome, { kind: 'acknowledged' });
    await until(`${text} is read`, async () => (await network.received(shop, PERSON)).includes(text));
  };
  await control.setGroup(GROUP, { name: 'Some', participants: [SHOP_PHONE, PERSON], admins: [SHOP_PHONE] });
  await sends('a post before', GROUP);
  await sends('before');
  for (const kind of CONTACT_NOTICES) {
    await control.notify(SHOP_PHONE, { kind, from: PERSON });
    await sends(kind);
  }
  await sends('a post after', GROUP);
  for (const kind of OWN_NOTICES) await control.notify(SHOP_PHONE, { kind });
  await until('all of them are acknowledged', async () => {
    const { unacknowledged } = await control.unanswered(SHOP_PHONE);
    // Receipts wait for a shop to commit them, and there is none.
    return unacknowledged.every((stanza) => stanza.class !== 'notification');
  });
  await sends('after');
  const texts = await network.received(shop, PERSON);
  assert.deepEqual(texts, ['a post before', 'before', ...CONTACT_NOTICES, 'a post after', 'after']);
  await control.write(PERSON, { to: SHOP_PHONE, text: 'Thank you', wait: false });
  assert.equal((await log.next(shop, 'session.inbound')).text, 'Thank you');
  assert.equal(log.all(shop, 'session.closed').length, 1, 'only the one that follows the pairing');
});
