/**
 * Members of a group who could not read a post ask for it again, each by itself and perhaps all at once. Each answer is
 * for the device that asked: posts to the whole group for each of them have locked accounts (oxidezap/whatsapp-rust,
 * pull 871).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '../../../../runtime/durations.ts';
import { until } from '../../../testbed/waiting.ts';
import { SHOP_PHONE, textOrder } from '../conformance-network.ts';
import { pairedShop } from '../paired-shop.ts';

const MEMBERS = 200;
const GROUP = '120363000000000777@g.us';

test(`${MEMBERS} members who ask for a post at once get at most one stanza each, and none gets another’s`, async (context) => {
  const { control, outcomeOf } = await pairedShop(context, { timing: { resendEveryMs: 1 } });
  const phones = Array.from({ length: MEMBERS }, (_, index) => `+33644${String(index).padStart(6, '0')}`);
  await control.setGroup(GROUP, {
    name: 'Many',
    participants: [SHOP_PHONE, ...phones],
    admins: [SHOP_PHONE],
  });
  await control.fault(SHOP_PHONE, 'unreadable', MEMBERS);
  assert.equal(
    (await outcomeOf(textOrder('to all', { to: GROUP, deadlineMs: 10 * MINUTE_MS }))).kind,
    'acknowledged',
  );
  await until('each was answered', async () => {
    const [session] = (await control.sessions()).items;
    return (session?.sent.stanzas ?? 0) > MEMBERS;
  });
  const [session] = (await control.sessions()).items;
  const { stanzas, deliveries } = session?.sent ?? { stanzas: 0, deliveries: 0 };
  assert.ok(stanzas <= 1 + MEMBERS, `${stanzas} stanzas`);
  // The post itself is for the members and the shop's own phone.
  assert.ok(deliveries <= MEMBERS + 1 + MEMBERS, `${deliveries} deliveries`);
  for (const phone of phones) {
    const items = await until(`${phone} reads the post`, async () => {
      const inbox = await control.inbox(phone);
      return inbox.items.length > 0 && inbox.items;
    });
    assert.deepEqual(
      items.map(({ text, duplicates }) => [text, duplicates]),
      [['to all', 0]],
    );
  }
});
