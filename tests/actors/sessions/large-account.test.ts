/**
 * An account of many years: 10,000 contacts in its history, 50 groups, and 1,000 stanzas that waited while the session
 * was away. All of it is answered, and what people wrote is heard, the last of it included.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../testbed/waiting.ts';
import { SHOP_PHONE } from './conformance-network.ts';
import { pairedShop } from './paired-shop.ts';

const GROUPS = 50;
const MEMBERS = Array.from({ length: 9 }, (_, index) => `+3364400010${index}`);
const STATUSES = 700;
const POSTS = 200;
const TEXTS = 100;

test('a large account gets every message after it was away', async (context) => {
  const { shop, host, log, control, logged } = await pairedShop(context);
  const groupId = (index: number): string => `1203630000000010${String(index).padStart(2, '0')}@g.us`;
  await control.sendHistory(SHOP_PHONE, { mappings: 10_000, tokens: 1_000 });
  await until('the history is taken', async () => logged.some((line) => line.includes('"mappings":10000')));
  host.close(shop);
  await until('it is away', async () =>
    (await control.sessions()).items.every(({ connected }) => !connected),
  );
  const participants = [SHOP_PHONE, ...MEMBERS];
  for (let index = 0; index < GROUPS; index += 1)
    await control.setGroup(groupId(index), { name: `Group ${index}`, participants });
  const [contact = ''] = MEMBERS;
  await control.arrive(SHOP_PHONE, { kind: 'status', from: contact, count: STATUSES });
  for (let index = 0; index < POSTS; index += 1) {
    const to = groupId(index % GROUPS);
    await control.write(MEMBERS[index % MEMBERS.length] ?? '', { to, text: `post ${index}`, wait: false });
  }
  for (let index = 0; index < TEXTS; index += 1) {
    const text = index === TEXTS - 1 ? 'STOP' : `text ${index}`;
    await control.write(MEMBERS[index % MEMBERS.length] ?? '', { to: SHOP_PHONE, text, wait: false });
  }
  const startedAt = performance.now();
  host.open(shop, { generation: 3 });
  let confirmed = 0;
  await until('the last word is heard', async () => {
    const heard = log.all(shop, 'session.inbound');
    for (const { token } of heard.slice(confirmed)) host.order(shop, { type: 'confirm', token });
    confirmed = heard.length;
    return heard.some(({ text }) => text === 'STOP');
  });
  const tookMs = Math.round(performance.now() - startedAt);
  context.diagnostic(`${STATUSES + POSTS + TEXTS} stanzas worked off in ${tookMs} ms`);
  await until('all is answered', async () => {
    const { waiting, unacknowledged } = await control.unanswered(SHOP_PHONE);
    return waiting.length === 0 && unacknowledged.length === 0;
  });
  const texts = log.all(shop, 'session.inbound').map(({ text }) => text);
  assert.equal(texts.length, TEXTS, 'each once, and no post of a group');
  await log.next(shop, 'session.groups', ({ groups }) => groups.length === GROUPS);
  assert.equal(log.all(shop, 'session.closed').filter(({ generation }) => generation === 3).length, 0);
});
