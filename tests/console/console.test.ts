/** An operator's work with the console, against the whole service: Redis, one node, the chat network on loopback. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PERMISSIONS } from '../../actors/permission.ts';
import { apiClient } from '../e2e/stack/api-client.ts';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { connectShop, sendText } from '../e2e/stack/shop-steps.ts';
import { until } from '../testbed/waiting.ts';
import { startBrowser } from './browser.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

const SHOP_PHONE = '+33611110001';
const OTHER_PHONE = '+33611110002';
const CUSTOMER = '+33622220001';

let session: ConsoleSession;
after(() => session?.stop());
const stack = sharedStack({ gapMs: '400-500' }, async () => {
  await stack.admin.post(`/tenants/${stack.tenantId}/customers`, { phones: [CUSTOMER] });
  session = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
});

test('a wrong token is refused with a sentence, and the right one stays out of the address', async (context) => {
  const browser = await startBrowser();
  context.after(() => browser.stop());
  const { page } = await browser.open(stack.adminUrl());
  await page.getByLabel('Operator token').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('This operator token is not valid.').waitFor();
  await page.getByLabel('Operator token').fill(stack.adminToken);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  assert.ok(!page.url().includes(stack.adminToken));
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Operator token').waitFor();
});

/** Ways of the drawn machines that reach beyond the edge of their drawing. */
const WAYS_CUT_OFF = `[...document.querySelectorAll('.state-chart svg')].flatMap((drawing) => {
  const { width } = drawing.viewBox.baseVal;
  return [...drawing.querySelectorAll('.way')]
    .filter((way) => way.getBBox().x < 0 || way.getBBox().x + way.getBBox().width > width)
    .map((way) => way.textContent.trim());
})`;

test('a shop is connected by the QR code that the console shows', async () => {
  const { page, visit } = session;
  await visit(`/shops/${stack.tenantId}/${stack.shopId}`);
  await page.getByRole('status').getByText('Nobody ever connected this shop.').waitFor();
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const code = page.getByRole('dialog').getByRole('img', { name: 'QR code' });
  await code.waitFor();
  assert.match((await code.getAttribute('src')) ?? '', /^data:image\/png;base64,/);
  const { data } = await stack.admin.get(`/actors/${stack.tenantId}/${stack.shopId}/connect`);
  await stack.network.scan(String(data.qr), SHOP_PHONE);
  await page.getByRole('dialog').getByText('The shop is connected.').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('img', { name: /^channel: connected of/ }).waitFor();
  assert.deepEqual(await page.evaluate(WAYS_CUT_OFF), []);
});

test('a message is seen going out, live', async () => {
  const { page } = session;
  const messages = page.locator('section', { has: page.getByRole('heading', { name: 'Messages' }) });
  const acceptedAnswer = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Your bread is ready' });
  assert.equal(acceptedAnswer.status, 202);
  const row = messages.getByRole('row', { name: CUSTOMER });
  await row.waitFor();
  await row.getByText('sent', { exact: true }).waitFor();
  assert.match((await row.getByRole('cell').nth(4).textContent()) ?? '', /^(–|delivered .+)$/);
  await page.getByRole('cell', { name: 'preparing → sending' }).first().waitFor();
  assert.ok(!(await page.content()).includes('Your bread is ready'), 'a text never reaches the console');
});

test('an operator pauses and resumes a shop with only the keyboard', async () => {
  const { page } = session;
  await page.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Held by an operator.').waitFor();
  await page.getByRole('button', { name: 'Resume' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Connected; nothing waits.').waitFor();
});

test('a shop that is paused after a rate signal is found by its state, with the reason and the end', async () => {
  const { page, visit } = session;
  const otherAnswer = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name: 'Harbour café' });
  const shopId = String(otherAnswer.data.id);
  await connectShop(stack, shopId, OTHER_PHONE);
  await stack.network.ackErrors(OTHER_PHONE, 429);
  await sendText(stack, shopId, { to: CUSTOMER, text: 'Hello' });
  await visit('/shops');
  await page.getByLabel('State').selectOption('paused');
  await page.getByRole('link', { name: 'Harbour café' }).click();
  await page
    .getByRole('status')
    // Late in the evening, the end has a day before its time.
    .getByText(/Paused by the network's rate signal until (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d, in 1[45] min/)
    .waitFor();
  await page.getByRole('img', { name: /^pacing: paused of/ }).waitFor();
});

test('a key is shown once, and a revoked key is refused at the next call', async () => {
  const { page, visit } = session;
  await visit(`/tenants/${stack.tenantId}`);
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name').fill('till');
  for (const permission of PERMISSIONS.slice(0, 2)) await page.getByLabel(permission).check();
  await page.getByRole('button', { name: 'Create key' }).click();
  const value = (await page.locator('#fresh-key').textContent()) ?? '';
  assert.match(value, /^tm_live_/);
  await page.getByRole('button', { name: 'I have kept it' }).click();
  assert.ok(!(await page.content()).includes(value));
  const caller = apiClient(() => stack.apiUrl(), value);
  assert.equal((await caller.get('/me')).status, 200);
  await page.getByRole('button', { name: 'Revoke till' }).click();
  await page.getByRole('button', { name: 'Revoke now' }).click();
  await page.getByRole('row', { name: 'till' }).getByText('revoked').waitFor();
  const refusedAnswer = await caller.get('/me');
  assert.deepEqual([refusedAnswer.status, refusedAnswer.error?.code], [401, 'API_KEY_REVOKED']);
});

test('the request log shows that refusal under its status', async () => {
  const { page, visit } = session;
  await visit(`/requests?tenant=${stack.tenantId}&status=401`);
  await page
    .getByRole('row', { name: /401.*\/me/ })
    .first()
    .waitFor();
  // An id or a time may hold the digits of a success, too.
  assert.equal(await page.locator('tbody .status', { hasText: '200' }).count(), 0);
});

test('the reason why a call never became a message is shown on the page of the shop and of its tenant', async () => {
  const { page, visit } = session;
  await stack.network.write(CUSTOMER, { to: SHOP_PHONE, text: 'STOP' });
  await until('the customer is opted out', async () => {
    const refusedAnswer = await sendText(stack, stack.shopId, { to: CUSTOMER, text: 'Hello again' });
    return refusedAnswer.error?.code === 'RECIPIENT_OPTED_OUT';
  });
  for (const place of [`/shops/${stack.tenantId}/${stack.shopId}`, `/tenants/${stack.tenantId}`]) {
    await visit(place);
    await page
      .getByRole('row', { name: /RECIPIENT_OPTED_OUT.*The recipient wrote STOP/ })
      .first()
      .waitFor();
    await page.getByRole('row', { name: /API_KEY_REVOKED.*revoked/ }).waitFor();
  }
  await page.getByRole('link', { name: 'One by one' }).click();
  await page.getByRole('row', { name: /422 RECIPIENT_OPTED_OUT/ }).waitFor();
  assert.ok(await page.getByLabel('Only refused').isChecked());
});

test('the overview counts what happened and which codes were answered', async () => {
  const { page, visit } = session;
  await visit('/');
  const refusals = page.locator('figure', { has: page.getByRole('heading', { name: 'Refusals by code' }) });
  await refusals.getByText('API_KEY_REVOKED').waitFor();
  await page.getByText('128 / 128').waitFor();
  await page.getByRole('link', { name: 'Harbour café' }).first().waitFor();
});

test('no page logged an error', () => {
  // The browser itself reports a refused sign-in. No sign-in was refused in this session.
  assert.deepEqual(session.complaints, []);
});

test('a lost connection is shown', async () => {
  const { page } = session;
  await page.getByRole('banner').getByText('Live').waitFor();
  await stack.end('SIGKILL');
  await page.getByText('The connection to the service is lost.').waitFor();
  await until('the sign says so', () => page.getByRole('banner').getByText('Not connected').isVisible());
});
