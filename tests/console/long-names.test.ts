/** Names and codes without a place to break at: no page gets wider than its window, nothing lies on anything. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { sendText, untilStatus } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { SIZES } from './browser.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

const NAME = 'Bäckereifachverkaufsgenossenschaftsverwaltung'.repeat(3).slice(0, 100);
const STRANGERS = 6;

let session: ConsoleSession;
let places: readonly string[];
after(() => session?.stop());
const stack = sharedStack({ phone: '+33611110001' }, async () => {
  // Its reason is the longest text of a list.
  await stack.network.setNumber('+33622220000', false);
  for (let index = 0; index < STRANGERS; index += 1) {
    const sentAnswer = await sendText(stack, stack.shopId, {
      to: `+3362222000${index}`,
      text: `Hello ${index}`,
    });
    if (index === 0) await untilStatus(stack, String(sentAnswer.data.id), 'rejected');
  }
  const owner = { name: NAME, notificationNumber: null };
  const tenant = await stack.admin.post('/tenants', { name: NAME, plan: 'free', owner });
  const tenantId = String(tenant.data.id);
  const shop = await stack.admin.post(`/tenants/${tenantId}/shops`, { name: NAME });
  await stack.admin.post(`/tenants/${tenantId}/keys`, { name: NAME, permissions: ['shops.read'] });
  await stack.admin.get(`/actors/${tenantId}/${shop.data.id}`);
  session = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
  const ownIds = [`/shops/${tenantId}/${shop.data.id}`, `/tenants/${tenantId}`];
  const refusedCodes = [
    `/shops/${stack.tenantId}/${stack.shopId}`,
    '/requests?code=COLD_RECIPIENT_CAP_REACHED',
  ];
  places = ['/', '/shops', '/tenants', ...ownIds, ...refusedCodes];
});

/** Texts in a table that reach beyond the cell they are in. */
const SPILT = `[...document.querySelectorAll('td a, td code, td span')]
  .filter((part) => part.getBoundingClientRect().right > part.closest('td').getBoundingClientRect().right + 1)
  .map((part) => part.textContent)`;

/** Tables that reach beyond their panel. */
const TOO_WIDE = `[...document.querySelectorAll('.panel table')]
  .filter((table) => table.getBoundingClientRect().right > table.closest('.panel').getBoundingClientRect().right - 8)
  .map((table) => table.caption.textContent)`;

/** Dates, times and ids in a table that take more than one line. */
const BROKEN = `[...document.querySelectorAll('td')].filter((cell) => {
  const text = cell.textContent.trim();
  if (!/^\\d{4}-\\d\\d-\\d\\d( [\\d:]{8})?$|^[0-9a-f]{24}$/.test(text)) return false;
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 10))).size > 1;
}).map((cell) => cell.textContent.trim())`;

for (const size of ['desktop', 'phone'] as const) {
  test(`long names and codes stay where they belong at ${size} width`, async () => {
    const { page, visit } = session;
    await page.setViewportSize(SIZES[size]);
    for (const place of places) {
      await visit(place);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(Number(overflow) <= 0, `${place} is ${overflow} px too wide`);
      for (const wrong of [SPILT, TOO_WIDE, BROKEN]) assert.deepEqual(await page.evaluate(wrong), [], place);
    }
  });
}

test('a short name stays on one line next to a long reason on the overview', async () => {
  const { page, visit } = session;
  const phone = '+33611110002';
  const { data } = await stack.api.post('/shops', { name: 'Restaurant' });
  const path = `/shops/${data.id}/channels/msgapp/connect`;
  await stack.network.requirePasskey(phone, true);
  const { qr } = (await stack.api.post(path)).data;
  await assert.rejects(stack.network.scan(String(qr), phone));
  await until('the passkey is the reason', async () => (await stack.api.get(path)).data.reason !== undefined);
  await page.setViewportSize(SIZES.desktop);
  await visit('/');
  const table = page.getByRole('table', { name: 'Shops that need attention' });
  const link = table.getByRole('link', { name: 'Restaurant' });
  await link.waitFor();
  const { height = 0 } = (await link.boundingBox()) ?? {};
  assert.ok(height > 0 && height < 30, `the name takes ${height} px`);
});
