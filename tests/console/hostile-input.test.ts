/** Names that a page shows otherwise than they are stored, clicks that come twice, and a clock far from UTC. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { after, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { ADMIN_TOKEN, type ServiceFixture, startService } from '../http/service-fixture.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

/** Turns all text after it around. */
const TURNED = '\u202e';

let service: ServiceFixture;
let session: ConsoleSession;
before(async () => {
  service = await startService();
  const operator = { adminUrl: service.adminUrl, adminToken: ADMIN_TOKEN };
  session = await openConsole(operator, { timezoneId: 'America/Los_Angeles' });
  session.page.setDefaultTimeout(10_000);
});
after(async () => {
  await session?.stop();
  await service?.stop();
});

interface Account {
  readonly id: string;
  readonly owner: { readonly name: string } | null;
  readonly inbound: string;
  readonly poolFallback: boolean;
}

/** Asks the operators' API. Resolves with the `data` of the answer. */
async function asked(method: string, path: string, body?: object) {
  const answer = await fetch(`${service.adminUrl}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return ((await answer.json()) as { data: Account }).data;
}

/** Makes a tenant, and shows its page. */
async function visitNew(name: string): Promise<string> {
  const { id } = await asked('POST', '/tenants', { name });
  await session.visit(`/tenants/${id}`);
  return id;
}

/** Returns the left edges of the first and the last letter of “to confirm” in the dialog, in pixels. */
const EDGES = `(() => {
  const text = document.createTreeWalker(document.querySelector('dialog'), NodeFilter.SHOW_TEXT);
  while (text.nextNode()) {
    const at = text.currentNode.data.indexOf('to confirm');
    if (at < 0) continue;
    const leftOf = (place) => {
      const range = document.createRange();
      range.setStart(text.currentNode, place);
      range.setEnd(text.currentNode, place + 1);
      return range.getBoundingClientRect().left;
    };
    return [leftOf(at), leftOf(at + 'to confir'.length)];
  }
  return [];
})()`;

test('a tenant whose name has several blanks is erased by the name that is shown', async () => {
  const { page } = session;
  await visitNew('Two  blanks');
  await page.getByRole('button', { name: 'Erase tenant' }).click();
  const label = await page.getByRole('dialog').locator('label').textContent();
  const [, shown = ''] = /“(.*)”/.exec(label ?? '') ?? [];
  assert.equal(shown, 'Two blanks');
  await page.getByRole('dialog').getByRole('textbox').fill(shown);
  await page.getByRole('button', { name: 'Erase it for good' }).click();
  await page.getByRole('heading', { name: 'Tenants', exact: true }).waitFor();
});

test('a name that turns its text around leaves the words after it as they are', async () => {
  const { page } = session;
  await visitNew(`${TURNED}yrekaB`);
  await page.getByRole('button', { name: 'Erase tenant' }).click();
  const [first, last] = (await page.evaluate(EDGES)) as number[];
  assert.ok(Number(first) < Number(last), `“to confirm” goes from ${first} to ${last}`);
  await page.keyboard.press('Escape');
});

test('a secret is not rotated twice by two clicks', async () => {
  const { page, visit } = session;
  const id = await visitNew('Bakery');
  const url = 'https://hooks.example/messages';
  await asked('POST', `/tenants/${id}/webhooks`, { url });
  await visit('/tenants');
  await visit(`/tenants/${id}`);
  const calls = new EventEmitter();
  const called = once(calls, 'rotate');
  await page.route('**/rotate-secret', (route) => void calls.emit('rotate', route));
  const rotate = page.getByRole('button', { name: `Rotate secret of ${url}` });
  await rotate.click();
  const [route] = (await called) as [Route];
  assert.equal(await rotate.isDisabled(), true);
  await route.continue();
  await page.locator('#fresh-secret').waitFor();
  await page.getByRole('button', { name: 'I have kept it' }).click();
});

test('a key expires on the day that was chosen, by the clock of the browser', async () => {
  const { page } = session;
  await visitNew('Bakery');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name').fill('till');
  await page.getByLabel('Expires').fill('2099-06-15');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('row', { name: /till.*2099-06-15/ }).waitFor();
});

test('a form that was opened before another change of the account leaves that change', async () => {
  const { page } = session;
  const id = await visitNew('Bakery');
  await page.getByRole('button', { name: 'Change account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Owner').fill('Grace');
  await asked('PATCH', `/tenants/${id}`, { inbound: 'texts', poolFallback: true });
  await dialog.getByRole('button', { name: 'Change account' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { owner, inbound, poolFallback } = await asked('GET', `/tenants/${id}`);
  assert.deepEqual([owner?.name, inbound, poolFallback], ['Grace', 'texts', true]);
});

test('the page of a tenant with a key fits a screen of 320 pixels', async () => {
  const { page, visit } = session;
  const id = await visitNew('Bakery');
  await asked('POST', `/tenants/${id}/keys`, { name: 'till', permissions: ['shops.read'] });
  await page.setViewportSize({ width: 320, height: 700 });
  await visit('/tenants');
  await visit(`/tenants/${id}`);
  await page.getByRole('button', { name: 'Revoke till' }).waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0);
});

test('a token that no header can have is not valid, like any other wrong one', async () => {
  const { page } = session;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Operator token').fill('clé-🔑-of-an-operator');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('This operator token is not valid.').waitFor();
});
