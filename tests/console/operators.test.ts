/** An operator's inputs in the console, which its pages must keep although they fetch again and again. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../http/service-fixture.ts';
import { sharedService } from '../http/shared-service.ts';
import { until } from '../testbed/waiting.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

let session: ConsoleSession;
after(() => session?.stop());
const { service } = sharedService({}, async () => {
  session = await openConsole({ adminUrl: service.adminUrl, adminToken: ADMIN_TOKEN }, { ownClock: true });
  session.page.setDefaultTimeout(10_000);
});

/** Lists with a filter: its label, and how often the list is fetched again. */
const FILTERS = [
  ['/shops', 'Search', 3_000],
  ['/tenants', 'Search', 5_000],
  ['/requests', 'Tenant', 3_000],
] as const;

for (const [place, label, everyMs] of FILTERS) {
  test(`text typed into the filter of ${place} stays while the list is fetched again`, async () => {
    const { page, visit } = session;
    await visit(place);
    const field = page.locator('main form').getByLabel(label);
    await field.pressSequentially('bak');
    await drawnAnew(page, everyMs);
    assert.equal(await field.inputValue(), 'bak');
    await field.fill('');
  });
}

test('a filter shows a value that is chosen elsewhere', async () => {
  const { page, visit } = session;
  await visit('/shops');
  const field = page.locator('main form').getByLabel('Search');
  await field.fill(' quay ');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=quay&/);
  const finder = page.getByRole('search').getByLabel('Find a shop');
  await finder.fill('bakery');
  // The list is asked for once the page is drawn with what was chosen.
  const askedPromise = page.waitForResponse(/q=bakery/);
  await page.keyboard.press('Enter');
  await askedPromise;
  assert.equal(await field.inputValue(), 'bakery');
});

test('text typed but not entered does not return an operator to a page that they left', async () => {
  const { page, visit } = session;
  await visit('/tenants');
  await page.locator('main form').getByLabel('Search').pressSequentially('bak');
  await visit('/requests');
  await page.getByRole('heading', { name: 'Requests' }).waitFor();
  assert.match(page.url(), /#\/requests$/);
});

test('a refused filter shows nothing of the earlier list', async () => {
  const { page, visit } = session;
  await refusedCalls(1);
  await visit('/requests');
  // The test before ended on the same page, which fetches again only by itself.
  await page.clock.fastForward(3_000);
  await page.getByRole('row', { name: '/me' }).first().waitFor();
  await page.locator('main form').getByLabel('Tenant').fill('zz');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('tenant must be a tenant id, or nobody').waitFor();
  assert.equal(await page.getByRole('row').count(), 0);
  assert.equal(await page.getByText('Loading…').count(), 0);
});

test('an error about more of a list is not shown for another list', async () => {
  const { page, visit } = session;
  await refusedCalls(60);
  await visit('/requests?route=/me');
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
  await page.route('**/requests?*cursor=*', (route) =>
    route.fulfill({ status: 503, json: { success: false, error } }),
  );
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByRole('alert').getByText('Not now.').waitFor();
  await page.locator('main form').getByLabel('Status').fill('401');
  const answeredPromise = page.waitForResponse((response) => response.url().includes('status=401'));
  await page.keyboard.press('Enter');
  await answeredPromise;
  await page.getByRole('row', { name: '/me' }).first().waitFor();
  assert.equal(await page.getByText('Not now.').count(), 0);
});

test('a refusal is not shown again in the dialog of another key', async () => {
  const { page, visit } = session;
  const tenant = await post('/tenants', { name: 'Bakery' });
  for (const name of ['first', 'second'])
    await post(`/tenants/${tenant.id}/keys`, { name, permissions: ['shops.read'] });
  await visit(`/tenants/${tenant.id}`);
  const error = { code: 'SERVICE_UNAVAILABLE', message: 'Not now.' };
  await page.route('**/rotate', (route) => route.fulfill({ status: 503, json: { success: false, error } }), {
    times: 1,
  });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Rotate first' }).click();
  await dialog.getByRole('button', { name: 'Rotate now' }).click();
  await dialog.getByText('Not now.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Revoke second' }).click();
  await dialog.getByRole('button', { name: 'Revoke now' }).waitFor();
  assert.equal(await dialog.getByText('Not now.').count(), 0);
  await page.keyboard.press('Escape');
});

test('a browser without a clipboard shows no copy buttons', async () => {
  const { page, visit } = session;
  const tenant = await post('/tenants', { name: 'Bakery' });
  await visit(`/tenants/${tenant.id}`);
  await page.evaluate(
    "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })",
  );
  await page.getByRole('button', { name: 'New key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('orders');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'I have kept it' }).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Copy' }).count(), 0);
  await page.keyboard.press('Escape');
});

test('no more events arrive once the operator has signed out', async () => {
  const { page } = session;
  // The clock that was put forward may have taken the stream for a silent one.
  await page.getByRole('banner').getByText('Live').waitFor();
  const ended = page.waitForEvent('requestfailed', {
    predicate: (request) => request.url().endsWith('/events'),
  });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await ended;
});

/** Makes calls without a key, until the log of requests has `count` of them. */
async function refusedCalls(count: number): Promise<void> {
  for (let call = 0; call < count; call += 1) await (await fetch(`${service.apiUrl}/me`)).text();
  await until('the calls are in the log', async () => {
    const answer = await fetch(`${service.adminUrl}/admin/v1/requests?route=/me&limit=100`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { data } = (await answer.json()) as { data: { items: readonly object[] } };
    return data.items.length >= count;
  });
}

async function post(path: string, body: object): Promise<{ readonly id: string }> {
  const answer = await fetch(`${service.adminUrl}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { data: { id: string } }).data;
}

/**
 * Until the list was answered twice more: the second answer is drawn on a page that the first one was drawn on. Puts
 * the page's clock forward; where the page has not begun to wait yet, the answer comes by itself in `everyMs`.
 */
async function drawnAnew(page: Page, everyMs: number): Promise<void> {
  await page.locator('main [aria-busy]').first().waitFor({ state: 'detached' });
  for (let round = 0; round < 2; round += 1) {
    const answeredPromise = page.waitForResponse((response) => response.url().includes('limit=50'));
    await page.clock.fastForward(everyMs);
    await (await answeredPromise).finished();
  }
}
