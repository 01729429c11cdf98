/** Operators' changes on the pages of a tenant and a shop, against the real actors with the chat network in memory. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page, Route } from 'playwright-core';
import { DAY_MS, HOUR_MS } from '../../runtime/durations.ts';
import { erase } from '../http/operator-api/erase.ts';
import { ADMIN_TOKEN } from '../http/service-fixture.ts';
import { sharedRealService } from '../http/shared-service.ts';
import type { TestTenant } from '../http/target.ts';
import { eventually } from '../testbed/waiting.ts';
import { accessibilityViolations, SIZES } from './browser.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

const [first, second, third] = ['+33600000001', '+33600000002', '+33600000013'] as const;

let session: ConsoleSession;
let page: Page;
let tenant: TestTenant;
let shopId: string;
after(() => session?.stop());
const service = sharedRealService(async () => {
  tenant = await service.tenant();
  shopId = await service.shop(tenant, 'Corner bakery');
  await call('POST', '/channels/msgapp/connect', {});
  await eventually(async () => (await call('GET', '/channels/msgapp/connect')).status === 'connected');
  session = await openConsole({ adminUrl: service.adminUrl, adminToken: ADMIN_TOKEN }, { ownClock: true });
  page = session.page;
});

/** A call of the tenant about its shop; answers `data`. */
async function call(method: string, path: string, json?: unknown) {
  const answer = await service.api.call(method, `/shops/${shopId}${path}`, { key: tenant.key, json });
  assert.ok(answer.status < 300, answer.text);
  return answer.body.data;
}
const asked = async (path: string) => (await service.operator('GET', path)).body.data;
const send = (to: string, idempotencyKey: string) =>
  call('POST', '/messages', { channel: 'msgapp', to, text: 'Your bread is ready', idempotencyKey });
const panel = (title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const dialog = () => page.getByRole('dialog');
const dialogGone = () => dialog().waitFor({ state: 'detached' });
const visitShop = () => session.visit(`/shops/${tenant.id}/${shopId}`);

/** Answers requests about an erasure with the last `left` that was set. If undefined, nothing is being erased. */
const answerErasure = async (first: object | undefined): Promise<{ left: object | undefined }> => {
  const answer = { left: first };
  await page.route('**/erasure', (route) => {
    const { left: data } = answer;
    const error = { code: 'NOT_FOUND', message: 'Nothing is erased.' };
    const json = data === undefined ? { success: false, error } : { success: true, data };
    return route.fulfill({ status: data === undefined ? 404 : 200, json });
  });
  return answer;
};

/** Buttons whose words do not fit into them. */
const TOO_SMALL = `[...document.querySelectorAll('button')]
  .filter((button) => button.scrollHeight > button.clientHeight + 2 || button.scrollWidth > button.clientWidth + 2)
  .map((button) => button.textContent)`;

test('a preset chooses the permissions of a new key', async () => {
  await session.visit(`/tenants/${tenant.id}`);
  await press('New key');
  await dialog().getByLabel('Name').fill('sender');
  assert.deepEqual(await page.evaluate(TOO_SMALL), []);
  await press('Send only');
  assert.equal(await dialog().getByRole('checkbox', { checked: true }).count(), 2);
  await press('Create key');
  await press('I have kept it');
  await page.getByRole('row', { name: 'sender' }).waitFor();
  const { items } = await asked(`/tenants/${tenant.id}/keys`);
  const made = items.find(({ name }: { name: string }) => name === 'sender');
  assert.deepEqual(made.permissions, ['messages.send', 'messages.read']);
});

test('owner, a cap, the pool and inbound of a tenant are changed', async () => {
  await press('Change account');
  await dialog().getByLabel('Owner').fill('Grace');
  await dialog().getByLabel('Cold recipients a day').fill('7');
  // The page asks for the tenant every ten seconds; what was typed stays.
  await service.operator('PATCH', `/tenants/${tenant.id}`, { settings: { statusesPerDay: 5 } });
  await page.clock.fastForward(10_000);
  await panel('Account').getByText('statusesPerDay 5').waitFor();
  assert.equal(await dialog().getByLabel('Owner').inputValue(), 'Grace');
  await dialog().getByLabel('Sends through the pool').check();
  await dialog().getByLabel('Gets inbound').selectOption('events');
  assert.deepEqual(await accessibilityViolations(page), []);
  await dialog().getByRole('button', { name: 'Change account' }).click();
  await dialogGone();
  await panel('Account').getByText('coldPerDay 7').waitFor();
  const { owner, settings, poolFallback, inbound } = await asked(`/tenants/${tenant.id}`);
  assert.deepEqual(
    [owner.name, settings, poolFallback, inbound],
    ['Grace', { coldPerDay: 7, statusesPerDay: 5 }, true, 'events'],
  );
});

for (const [label, typed, elsewhere] of [
  ['Owner', 'Edsger', { name: 'Grace', notificationNumber: second }],
  ['Notified at', third, { name: 'Barbara', notificationNumber: second }],
] as const) {
  test(`an account form in which only “${label}” was changed undoes no other change of the owner`, async () => {
    const path = `/tenants/${tenant.id}`;
    await service.operator('PATCH', path, { owner: { name: 'Grace', notificationNumber: first } });
    await session.visit('/tenants');
    await session.visit(path);
    await press('Change account');
    await dialog().getByLabel(label).fill(typed);
    await service.operator('PATCH', path, { owner: elsewhere });
    await dialog().getByRole('button', { name: 'Change account' }).click();
    await dialogGone();
    const changed = label === 'Owner' ? { name: typed } : { notificationNumber: typed };
    assert.deepEqual((await asked(path)).owner, { ...elsewhere, ...changed });
  });
}

test('customers are added, found by a part of their number and removed', async () => {
  await panel('Customers').getByRole('button', { name: 'Add' }).click();
  await dialog().getByLabel('Numbers').fill([first, second, third].join('\n'));
  await dialog().getByRole('button', { name: 'Add customers' }).click();
  await dialogGone();
  await panel('Customers').getByRole('row', { name: third }).waitFor();
  await page.getByLabel('Part of a number').fill('001 3');
  await page.keyboard.press('Enter');
  await panel('Customers').getByRole('row', { name: first }).waitFor({ state: 'detached' });
  await press(`Remove ${third}`);
  await panel('Customers').getByText('No number matches.').waitFor();
  const { items } = await asked(`/tenants/${tenant.id}/customers`);
  assert.deepEqual(
    items.map(({ phone }: { phone: string }) => phone),
    [first, second],
  );
});

test('a person is erased after a confirmation, and the erasure shows its progress', async () => {
  const people = `**/admin/v1/tenants/${tenant.id}/people/*`;
  const openDialog = async (personId: string): Promise<void> => {
    await press('Erase a person');
    await dialog().getByLabel('Person id').fill(personId);
    await press('Continue');
  };
  await openDialog(' nobody ');
  await dialog().getByText('nobody', { exact: true }).waitFor();
  assert.deepEqual(await accessibilityViolations(page), []);
  await press('Erase them for good');
  await dialog().getByRole('alert').waitFor();
  await press('Back');
  assert.equal(await dialog().getByLabel('Person id').inputValue(), ' nobody ');
  await press('Close');
  let asking = '';
  await page.route(people, (route) => {
    asking = `${route.request().method()} ${new URL(route.request().url()).pathname}`;
    const data = { id: 'kX3v', deleted: false, shopsLeft: 0 };
    return route.fulfill({ status: 202, json: { success: true, data } });
  });
  const answer = await answerErasure({ wholeTenant: false, shopsLeft: 0, peopleLeft: 1 });
  await openDialog('kX/3v');
  await press('Erase them for good');
  await dialog().getByText('People are being erased: 1 person is left.').waitFor();
  assert.equal(asking, `DELETE /admin/v1/tenants/${tenant.id}/people/kX%2F3v`);
  answer.left = undefined;
  await dialog().getByText('The erasure is done: nothing is left.').waitFor();
  await press('Done');
  await dialogGone();
  await page.unroute(people);
  await page.unroute('**/erasure');
});

test('a webhook that exists is changed', async () => {
  const url = 'http://127.0.0.1:9/hooks';
  await service.operator('POST', `/tenants/${tenant.id}/webhooks`, { url, types: ['message.failed'] });
  await session.visit('/tenants');
  await session.visit(`/tenants/${tenant.id}`);
  await page.setViewportSize(SIZES.phone);
  await page.getByRole('button', { name: `Change ${url}` }).waitFor();
  assert.deepEqual(await page.evaluate(TOO_SMALL), []);
  await page.setViewportSize(SIZES.desktop);
  await press(`Change ${url}`);
  await dialog().getByLabel('All shops').uncheck();
  await dialog().getByLabel('Corner bakery').check();
  await dialog().getByLabel('message.failed').uncheck();
  await dialog().getByLabel('message.sent').check();
  await dialog().getByLabel('Address').fill(`${url}/new`);
  await press('Change it');
  await dialogGone();
  await page
    .getByRole('row', { name: `${url}/new` })
    .getByText('message.sent of 1 shops')
    .waitFor();
  const { items } = await asked(`/tenants/${tenant.id}/webhooks`);
  assert.deepEqual(
    [items[0].url, items[0].types, items[0].shops],
    [`${url}/new`, ['message.sent'], [shopId]],
  );
  await press(`Delete ${url}/new`);
  await press('Delete it now');
  await panel('Webhooks').getByText('None yet.').waitFor();
});

test('a webhook gets the events of the oldest of many shops, also if one is erased while they are read', async () => {
  const otherTenant = await service.tenant();
  const oldest = await service.shop(otherTenant, 'Oldest bakery');
  const path = `/tenants/${otherTenant.id}/shops`;
  for (let number = 0; number < 99; number += 1)
    await service.operator('POST', path, { name: `Bakery ${number}` });
  const { body } = await service.operator('POST', path, { name: 'Newest bakery' });
  await session.visit(`/tenants/${otherTenant.id}`);
  // The oldest shop then moves to the first page, which was read before.
  const eraseNewest = async (route: Route): Promise<void> => {
    await erase(service.operator, `${path}/${body.data.id}`);
    await route.continue();
  };
  await page.route(/shops\?page=2&limit=100$/, eraseNewest, { times: 1 });
  await press('New webhook');
  await dialog().getByLabel('Address').fill('http://127.0.0.1:9/hooks');
  await dialog().getByLabel('All shops').uncheck();
  await dialog().getByLabel('Oldest bakery').check();
  await press('Create webhook');
  await press('I have kept it');
  const { items } = await asked(`/tenants/${otherTenant.id}/webhooks`);
  assert.deepEqual(items[0].shops, [oldest]);
});

test('a call of one webhook neither disables nor labels another, and each secret is shown', async () => {
  const urls = ['one', 'two'].map((name) => `http://127.0.0.1:9/${name}`) as [string, string];
  for (const url of urls) await service.operator('POST', `/tenants/${tenant.id}/webhooks`, { url });
  const [firstLocator, two] = urls.map((url) => page.getByRole('row', { name: url })) as [Locator, Locator];
  await session.visit('/tenants');
  await session.visit(`/tenants/${tenant.id}`);
  const heldRoutes: Route[] = [];
  const heldCalls = async (count: number): Promise<Route[]> => {
    await eventually(async () => heldRoutes.length === count);
    return heldRoutes.splice(0);
  };
  await page.route(/\/webhooks\/.*\/(test|rotate-secret)$/, (route) => void heldRoutes.push(route));
  await press(`Test ${urls[0]}`);
  await press(`Test ${urls[1]}`);
  assert.equal(await firstLocator.getByRole('button', { name: 'Test' }).isDisabled(), true);
  const [refusedRoute, answeredRoute] = await heldCalls(2);
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
  await refusedRoute?.fulfill({ status: 503, json: { success: false, error } });
  await answeredRoute?.fulfill({ json: { success: true, data: { status: 204, error: null } } });
  await firstLocator.getByRole('alert').getByText('Not now.').waitFor();
  await two.getByRole('status').getByText('The endpoint answered 204.').waitFor();
  assert.deepEqual(await accessibilityViolations(page), []);

  for (const url of urls) await press(`Rotate secret of ${url}`);
  for (const route of await heldCalls(2)) await route.continue();
  await page.unroute(/\/webhooks\/.*\/(test|rotate-secret)$/);
  const secret = page.locator('#fresh-secret', { hasText: 'whsec_' });
  const hasText = (await secret.textContent()) ?? '';
  await press('I have kept it');
  await secret.filter({ hasNotText: hasText }).waitFor();
  await press('I have kept it');
  await dialogGone();
  for (const url of urls) {
    await press(`Delete ${url}`);
    await press('Delete it now');
    await dialogGone();
  }
  await panel('Webhooks').getByText('None yet.').waitFor();
});

test('the finder finds a shop by its number with blanks, brackets and a leading 00', async () => {
  const { phone } = await call('GET', '/channels/msgapp/connect');
  const number = `00${phone.slice(0, 2)} (0)${phone.slice(2, 5)}-${phone.slice(5)}`;
  await page.getByRole('search').getByLabel('Find a shop').fill(number);
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Active shops' }).getByText('Corner bakery').waitFor();
});

test('an egress is refused by its field, set, shown without its password and removed', async () => {
  await visitShop();
  await press('Egress');
  await dialog().getByLabel('Proxy').fill('nonsense');
  await press('Try and set');
  await dialog().getByRole('alert').getByText('egress').waitFor();
  await dialog().getByLabel('Proxy').fill('socks5://bakery:s3cret@proxy.example:1080');
  await press('Try and set');
  await dialogGone();
  await panel('Session').getByText('socks5://bakery:***@proxy.example:1080').waitFor();
  await press('Egress');
  await press('Remove the egress');
  await dialogGone();
  await panel('Session').getByText("the node's own address").waitFor();
  await page
    .getByRole('status')
    .getByText(/^Connected;/)
    .waitFor();
});

test('a scheduled send is cancelled', async () => {
  const sendAt = new Date(Date.now() + DAY_MS).toISOString();
  await call('POST', '/scheduled', { channel: 'msgapp', to: first, text: 'Tomorrow', sendAt });
  await panel('Scheduled').getByRole('row', { name: first }).waitFor();
  await panel('Scheduled').getByRole('button', { name: 'Cancel' }).click();
  await panel('Scheduled').waitFor({ state: 'detached' });
  assert.deepEqual((await asked(`/actors/${tenant.id}/${shopId}/scheduled`)).items, []);
});

test('the matching messages of a queue are cancelled, then the rest', async () => {
  await press('Pause');
  await page.getByRole('status').getByText('Held by an operator').waitFor();
  const queued = [await send(first, 'june 1'), await send(second, 'june 2'), await send(third, 'june-3')];
  await press('Cancel queue');
  await dialog().getByLabel('Idempotency key begins with').fill('june ');
  await dialog().getByLabel('To', { exact: true }).fill('+33 600 000 001');
  await press('Cancel messages');
  await dialog().getByText('1 message is cancelled.').waitFor();
  const statuses = async () =>
    Promise.all(
      queued.map(async ({ id }) => {
        const { body } = await service.api.call('GET', `/messages/${id}`, { key: tenant.key });
        return body.data.status;
      }),
    );
  assert.deepEqual(await statuses(), ['failed', 'queued', 'queued']);
  await dialog().getByLabel('To', { exact: true }).fill('');
  await press('Cancel messages');
  await eventually(async () => (await statuses())[1] === 'failed');
  assert.deepEqual(
    await statuses(),
    ['failed', 'failed', 'queued'],
    'a prefix keeps the blank that it ends with',
  );
  await dialog().getByLabel('Idempotency key begins with').fill('');
  await press('Cancel messages');
  await eventually(async () => (await statuses()).every((status) => status === 'failed'));
  assert.deepEqual(await accessibilityViolations(page), []);
  await press('Done');
});

test('a batch is shown with its forecast, and paused, resumed and cancelled after a confirmation', async () => {
  const recipients = [first, second, '+33699999999'].map((to) => ({ to }));
  const notBefore = new Date(Date.now() + 2 * DAY_MS).toISOString();
  await call('POST', '/batches', { name: 'Spring hours', text: 'We open at seven', recipients, notBefore });
  const batches = panel('Batches');
  await batches.getByRole('row', { name: 'Spring hours' }).getByText('0 of 2').waitFor();
  await press('Show Spring hours');
  const shownLocator = panel('Batch “Spring hours”');
  await shownLocator
    .getByRole('img', { name: new RegExp(`Forecast: ${notBefore.slice(0, 10)} 2`) })
    .waitFor();
  await shownLocator.getByRole('row', { name: 'COLD_RECIPIENT' }).waitFor();
  assert.ok(!(await page.content()).includes('We open at seven'));
  assert.deepEqual(await accessibilityViolations(page), []);
  await press('Pause batch');
  await batches.getByText('paused').waitFor();
  await press('Resume batch');
  await batches.getByText('waiting', { exact: true }).waitFor();
  await press('Cancel batch');
  await dialog().getByText('Its messages that wait end as failed, with the reason CANCELLED.').waitFor();
  await press('Cancel it for good');
  await batches.getByText('cancelled').waitFor();
  await shownLocator.getByRole('button', { name: 'Cancel batch' }).waitFor({ state: 'detached' });
});

test('a banned shop is offered no connection, since nothing logs in before the ban ends', async () => {
  const path = `**/admin/v1/actors/${tenant.id}/${shopId}`;
  const data = await asked(`/actors/${tenant.id}/${shopId}`);
  Object.assign(data.details.channel, { state: 'banned', reconnectAtMs: Date.now() + HOUR_MS });
  Object.assign(data.details.pacing, { heldByOperator: false });
  await page.route(path, (route) => route.fulfill({ json: { success: true, data } }));
  await page.getByRole('status').getByText('The network bans the number').waitFor();
  await page.getByRole('button', { name: 'Disconnect', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Connect', exact: true }).count(), 0);
  await page.unroute(path);
});

test('a shop and then its tenant are erased once their names are typed', async () => {
  await press('Erase');
  const erase = dialog().getByRole('button', { name: 'Erase it for good' });
  await dialog().getByLabel(/^Type/).fill('Corner');
  assert.equal(await erase.isDisabled(), true);
  await dialog().getByLabel(/^Type/).fill('Corner bakery');
  await erase.click();
  await panel('Shops').getByText('None yet.').waitFor();
  const { name } = await asked(`/tenants/${tenant.id}`);
  await press('Erase tenant');
  await dialog().getByLabel(/^Type/).fill(name);
  await dialog().getByRole('button', { name: 'Erase it for good' }).click();
  // On a busy machine it takes longer than the second that its answer waits.
  const list = page.getByRole('heading', { name: 'Tenants' });
  await list.or(page.getByText('The erasure is done: nothing is left.')).waitFor();
  assert.equal((await service.operator('GET', `/tenants/${tenant.id}`)).status, 404);
});

test('a running erasure shows how much is left, and its end', async () => {
  const otherTenant = await service.tenant();
  const answer = await answerErasure({ wholeTenant: false, shopsLeft: 1, peopleLeft: 1 });
  await session.visit(`/tenants/${otherTenant.id}?erasing=shops`);
  await page.getByText('Shops and people are being erased: 1 shop is left, 1 person is left.').waitFor();
  answer.left = { wholeTenant: true, shopsLeft: 2, peopleLeft: 0 };
  await page.getByText('The whole tenant is being erased: 2 shops are left.').waitFor();
  answer.left = undefined;
  await page.getByText('The erasure is done: nothing is left.').waitFor();
});
