/** Every page of the console on a large screen and a phone, light and dark: nothing complains, everybody can use it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { HOUR_MS } from '../../runtime/durations.ts';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { sentText } from '../e2e/stack/shop-steps.ts';
import { accessibilityViolations, SIZES } from './browser.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

let session: ConsoleSession;
after(() => session?.stop());
const stack = sharedStack({ phone: '+33611110001' }, async () => {
  await sentText(stack, stack.shopId, { to: '+33622220001', text: 'Hello' });
  session = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
});

const places = (): Readonly<Record<string, string>> => ({
  Overview: '/',
  Shops: '/shops',
  'Corner bakery': `/shops/${stack.tenantId}/${stack.shopId}`,
  Tenants: '/tenants',
  Bakeries: `/tenants/${stack.tenantId}`,
  Requests: '/requests',
  Audit: '/audit',
  'Dead letters': '/dead-letters',
});

for (const size of ['desktop', 'phone'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every page is well at ${size} width in the ${colorScheme}`, async () => {
      const { page, visit } = session;
      await page.setViewportSize(SIZES[size]);
      await page.emulateMedia({ colorScheme });
      for (const [heading, place] of Object.entries(places())) {
        await visit(place);
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
        assert.deepEqual(await accessibilityViolations(page), [], heading);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok(Number(overflow) <= 0, `${heading} is ${overflow} px too wide`);
      }
    });
  }
}

test('a healthy state has the colour of a healthy status line', async () => {
  const { page, visit } = session;
  await visit(`/shops/${stack.tenantId}/${stack.shopId}`);
  const colorOf = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).backgroundColor`);
  await page.getByRole('banner').getByText('Live').waitFor();
  await page.locator('.status-line .badge').first().waitFor();
  assert.equal(await colorOf('.status-line .badge'), await colorOf('.heard'));
});

test('a dialog keeps the focus, closes on Escape and is accessible', async () => {
  const { page, visit } = session;
  await page.setViewportSize(SIZES.phone);
  await visit(`/tenants/${stack.tenantId}`);
  const opener = page.getByRole('button', { name: 'New key' });
  await opener.click();
  assert.deepEqual(await accessibilityViolations(page), []);
  assert.equal(
    await page.evaluate("document.querySelector('dialog').contains(document.activeElement)"),
    true,
  );
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('a dialog that is done gives the focus back to what opened it', async () => {
  const { page, visit } = session;
  await page.setViewportSize(SIZES.desktop);
  await visit(`/tenants/${stack.tenantId}`);
  await page.getByRole('button', { name: 'Import shop' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Quay');
  await dialog.getByRole('button', { name: 'Import shop' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await page.evaluate('document.activeElement?.textContent'), 'Import shop');
});

test('a connection that could not be begun can be tried again', async (context) => {
  const refusedSession = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
  context.after(() => refusedSession.stop());
  const { page, visit } = refusedSession;
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
  await page.route('**/connect', (route) => route.fulfill({ status: 503, json: { success: false, error } }), {
    times: 1,
  });
  const { data } = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name: 'Never connected' });
  await visit(`/shops/${stack.tenantId}/${data.id}`);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').getByText('Not now.').waitFor();
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByRole('img', { name: 'QR code' }).waitFor();
});

test('a shop is connected by a code to type, for which the console asks after a number was mistyped', async (context) => {
  const session = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
  context.after(() => session.stop());
  const { page, visit } = session;
  const phone = '+33611110077';
  const { data } = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name: 'One phone only' });
  await visit(`/shops/${stack.tenantId}/${data.id}`);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('img', { name: 'QR code' }).waitFor();
  await dialog.getByRole('button', { name: 'Type a code instead' }).click();
  await dialog.getByLabel('Number of the phone').fill('0611110077');
  await dialog.getByRole('button', { name: 'Get a code' }).click();
  await dialog.getByRole('alert').getByText('phone').waitFor();
  await dialog.getByLabel('Number of the phone').fill('+33 6 11 11 00 77');
  await dialog.getByRole('button', { name: 'Get a code' }).click();
  const code = await dialog.getByLabel('Code to type').textContent();
  assert.match(code ?? '', /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  await page.getByRole('img', { name: /^channel: code waiting of/ }).waitFor();
  await stack.network.typeCode(code ?? '', phone);
  await dialog.getByText('The shop is connected.').waitFor();
  await dialog.getByText(phone).waitFor();
});

test('an overview that cannot be fetched shows the reason instead of "Loading"', async (context) => {
  const refusedSession = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
  context.after(() => refusedSession.stop());
  const { page, visit } = refusedSession;
  await visit('/tenants');
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
  await page.route('**/overview*', (route) =>
    route.fulfill({ status: 503, json: { success: false, error } }),
  );
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('alert').getByText('Not now.').waitFor();
  assert.equal(await page.getByText('Loading…').count(), 0);
});

test('viewing a passivated shop does not load it again', async () => {
  const { page, visit } = session;
  const { data } = await stack.admin.post(`/tenants/${stack.tenantId}/shops`, { name: 'Asleep' });
  await visit(`/shops/${stack.tenantId}/${data.id}`);
  await page.getByRole('button', { name: 'Passivate' }).click();
  await page.getByRole('link', { name: 'Asleep' }).waitFor();
  const { data: active } = await stack.admin.get(`/actors?q=${data.id}`);
  assert.deepEqual(active.items, []);
});

test('a list that grows at its head still shows all earlier rows', async () => {
  const { page, visit } = session;
  await page.setViewportSize(SIZES.desktop);
  const call = (number: number) =>
    fetch(`${stack.apiUrl()}/docs`, {
      headers: { authorization: `Bearer ${stack.apiKey}`, 'x-request-id': `call-${number}` },
    });
  for (let number = 0; number < 60; number += 1) await call(number);
  await visit(`/requests?tenant=${stack.tenantId}&route=/docs`);
  const rows = page.getByRole('row', { name: /call-/ });
  await page.getByRole('row', { name: 'call-59' }).waitFor();
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('row', { name: /call-0$/ }).waitFor();
  for (let number = 60; number < 65; number += 1) await call(number);
  await page.getByRole('row', { name: 'call-64' }).waitFor();
  assert.equal(await rows.count(), 65);
});

test('the keyboard reaches the content first and then its controls', async () => {
  const { page, visit } = session;
  await page.setViewportSize(SIZES.desktop);
  await visit('/shops');
  await page.reload();
  await page.getByRole('heading', { name: 'Shops' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement?.id'), 'main');
});

test('a shop that a person disconnected does not show the earlier end of its session', async () => {
  const { page, visit } = session;
  await visit(`/shops/${stack.tenantId}/${stack.shopId}`);
  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page
    .getByRole('status')
    .getByText(/Disconnected: sends are refused/)
    .waitFor();
});

test('no page logged an error', () => {
  assert.deepEqual(session.complaints, []);
});

/** A connected shop without trouble, with changes. */
function shopWith({ channel = {}, queue = {}, ...details }: Record<string, object | boolean | null>): object {
  return {
    status: 'active',
    mailbox: { depth: 0, oldestQueuedMs: 0 },
    details: {
      channel: { state: 'connected', flagged: false, lastEnd: null, reconnectAtMs: null, ...Object(channel) },
      pacing: { state: 'idle', heldByOperator: false, untilMs: null },
      queue: { depth: 0, inHand: null, waiting: [], ...Object(queue) },
      limits: { restriction: null, newChats: null },
      undelivered: null,
      groups: 0,
      transitions: [{ machine: 'channel', event: 'closed' }],
      ...details,
    },
  };
}

/** A shop whose session ended so. */
const endedAs = (end: string, channel: object): object =>
  shopWith({
    channel: {
      lastEnd: { end, statusCode: 409, detail: 'its detail', atMs: Date.now(), networkCode: 104 },
      downSinceMs: Date.now(),
      attempts: 1,
      ...channel,
    },
  });

const IN_AN_HOUR = Date.now() + HOUR_MS;
const quota = { quota: 50, used: 40, accepted: 40, warning: 'first', endsAtMs: IN_AN_HOUR, atMs: 0 };
const restriction = { kind: 'RESTRICT_ALL_COMPANIONS', untilMs: IN_AN_HOUR, isEndKnown: true };
const disconnected = { state: 'disconnected' };
const lost = { state: 'disconnected', flagged: true };
const banned = { state: 'banned', reconnectAtMs: IN_AN_HOUR };
const undelivered = { sinceMs: Date.now(), count: 7, isLong: true };

/** The text of each state, with the next step for an operator. */
const STATES: readonly [name: string, shop: object, said: RegExp][] = [
  ['well', shopWith({}), /^Connected; nothing waits\.$/],
  ['restricted', shopWith({ limits: { restriction, newChats: null } }), /no new chats until .*Wait for the/],
  ['warned', shopWith({ limits: { restriction: null, newChats: quota } }), /40 of its 50 .*Write to fewer/],
  ['undelivered', shopWith({ undelivered }), /none of its 7 messages .*Pause it and look at the phone/],
  ['paused', shopWith({ pacing: { state: 'paused', untilMs: IN_AN_HOUR } }), /^Paused by the network's rate/],
  ['held', shopWith({ pacing: { state: 'idle', heldByOperator: true } }), /^Held by .*Resume/],
  [
    'banned',
    endedAs('temporarily_banned', banned),
    /104: one message to too many people\) until .*cannot log in/,
  ],
  ['login refused', endedAs('login_refused', { state: 'reconnecting' }), /\(409\)\..*tries again by itself/],
  ['refused five times', endedAs('login_refused', disconnected), /\(409\), five times.*Connect it to try/],
  ['outdated', endedAs('outdated', { state: 'reconnecting' }), /this version of the client.*another version/],
  ['egress', endedAs('egress_unreachable', { state: 'reconnecting' }), /\(its detail\).*Repair the proxy/],
  ['number in use', endedAs('number_in_use', disconnected), /is not free, its detail.*another phone/],
  ['passkey', endedAs('passkey_required', disconnected), /only with a passkey.*remove the passkey/],
  ['replaced once', endedAs('replaced', { state: 'reconnecting' }), /^Without a session/],
  ['replaced', endedAs('replaced', lost), /\(replaced, .*find and end it, then connect/],
  ['forbidden', endedAs('forbidden', lost), /\(forbidden, .*open the app on the phone/],
  ['unlinked', endedAs('logged_out', lost), /\(logged out, .*scan a new code/],
  ['no more codes', endedAs('qr_exhausted', disconnected), /\(qr exhausted\): sends are refused.*Connect it/],
  ['never connected', shopWith({ channel: { state: 'unconfigured' } }), /Nobody ever connected/],
  ['inactive', shopWith({ tenantActive: false, queue: { depth: 2 } }), /is inactive.*2 messages wait/],
  [
    'no groups',
    shopWith({ groups: null, queue: { depth: 1, waiting: [{ to: '120363000000000001@g.us' }] } }),
    /has not listed the groups.*1 message waits/,
  ],
];

test('a shop in each state shows what it means, and what to do', async () => {
  // The function is text, because a compiled import would not be the browser's.
  const said = await session.page.evaluate<string[]>(
    `import('/console/shop/shop-status.js').then(({ shopStatus }) =>
      ${JSON.stringify(STATES.map(([, shop]) => shop))}.map(shopStatus).map(({ text, todo }) => [text, todo].join(' ').trim()))`,
  );
  for (const [index, [name, , expectedPattern]] of STATES.entries())
    assert.match(said[index] ?? '', expectedPattern, name);
});
