/** Dead letters, suspended tenants, silent nodes and plans in the console. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tenantAddress } from '../../actors/tenants/tenant-keys.ts';
import { storeDeadLetter } from '../http/operator-api/stored-dead-letter.ts';
import { breakTenant } from '../http/real-service.ts';
import { ADMIN_TOKEN } from '../http/service-fixture.ts';
import { sharedService } from '../http/shared-service.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

let session: ConsoleSession;
after(() => session?.stop());
const { service, target } = sharedService({}, async () => {
  session = await openConsole({ adminUrl: service.adminUrl, adminToken: ADMIN_TOKEN });
});

test('a dead letter is shown with its cause and replayed', async () => {
  const { page, visit } = session;
  const tenant = await target.tenant();
  const revoke = { type: 'revoke_contact', phone: '+41791234567' };
  const letter = await storeDeadLetter(service, tenantAddress(tenant.id), revoke);
  await visit('/dead-letters');
  await page.getByRole('cell', { name: 'boom' }).waitFor();
  const actor = page.getByRole('link', { name: `tenant/${tenant.id}` });
  assert.equal(await actor.getAttribute('href'), `#/tenants/${tenant.id}`);
  const answeredPromise = page.waitForResponse((response) => response.url().endsWith(`/${letter}/replay`));
  await page.getByRole('button', { name: 'Replay' }).click();
  assert.equal((await answeredPromise).status(), 200);
});

test('a suspended tenant is named on the overview, and resumed on its page, which shows the cause', async () => {
  const { page, visit } = session;
  const { id } = await target.tenant();
  const mend = await breakTenant(service.runtime.node, id);
  await visit('/');
  const alert = page.getByRole('alert');
  await alert.getByRole('link', { name: `Tenant ${id.slice(0, 8)}…${id.slice(-3)}` }).click();
  const status = page.getByRole('main').getByRole('status');
  await status.getByText(/Suspended after 2 crashes\. The last error: SyntaxError at /).waitFor();
  await mend();
  await page.getByRole('button', { name: 'Resume' }).click();
  await status.waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Resume' }).count(), 0);
  await visit('/');
  await page.getByText('Shards owned').waitFor();
  // Nodes count their actors at most once in a few seconds, and the page asks again by itself.
  await alert.waitFor({ state: 'detached' });
});

test('an event is shown the moment it happens', async () => {
  const { page, visit } = session;
  await visit('/');
  await page.getByRole('banner').getByText('Live').waitFor();
  const shop = { tenantId: 'a'.repeat(24), shopId: 'b'.repeat(24), shop: 'Lighthouse' };
  const data = { ...shop, status: 'connected', state: 'connected' } as const;
  service.emit({ type: 'channel', at: new Date().toISOString(), data });
  await page.getByRole('row', { name: /channel connected Lighthouse/ }).waitFor();
});

test('a node that does not answer is shown as missing until it answers again', async () => {
  const { page, visit } = session;
  await visit('/');
  await page.getByRole('banner').getByText('Live').waitFor();
  const tell = (nodeId: string, standing: 'silent' | 'heard' | 'gone'): void =>
    service.emit({ type: 'node', at: new Date().toISOString(), data: { nodeId, standing } });
  tell('node-2', 'silent');
  tell('node-3', 'silent');
  const alert = page.getByRole('alert');
  await alert.getByText('No events from node-2, node-3.').waitFor();
  tell('node-2', 'gone');
  await alert.getByText('No events from node-3.').waitFor();
  tell('node-3', 'heard');
  await alert.waitFor({ state: 'detached' });
});

test('an operator gives a tenant another plan', async () => {
  const { page, visit } = session;
  await visit('/tenants');
  await page.getByRole('button', { name: 'New tenant' }).click();
  await page.getByLabel('Name').fill('Bakery');
  await page.getByRole('button', { name: 'Create tenant' }).click();
  const account = page.locator('section', { has: page.getByRole('heading', { name: 'Account' }) });
  await account.getByText('free', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Change plan' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Plan').inputValue(), 'free');
  await dialog.getByLabel('Plan').selectOption('growth');
  await dialog.getByRole('button', { name: 'Change plan' }).click();
  await account.getByText('growth', { exact: true }).waitFor();
  const byName = { limit: 10, cursor: undefined, q: 'Bakery' };
  assert.deepEqual(
    (await service.actors.ownNode.listTenants(byName)).items.map(({ plan }) => plan),
    ['growth'],
  );
});

test('the page and its files need no token and let in no foreign script', async () => {
  for (const path of ['/', '/console/main.js', '/console/preact.js', '/console/styles/theme.css']) {
    const answer = await fetch(service.adminUrl + path);
    assert.equal(answer.status, 200, path);
    assert.match(
      answer.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'self'; (?:.*; )?style-src 'self';/,
    );
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

test('suspended actors are resumed from the overview, all at once', async () => {
  const { page, visit } = session;
  const { id } = await target.tenant();
  const mend = await breakTenant(service.runtime.node, id);
  await visit('/');
  const button = page.getByRole('button', { name: 'Resume everything suspended' });
  await mend();
  await button.click();
  await page.getByRole('status').getByText('1 started again').waitFor();
  const foundOutcome = await service.actors.operators.tenant(id);
  assert.equal(foundOutcome.ok && foundOutcome.value.actor.status, 'active');
  await button.waitFor({ state: 'detached' });
});
