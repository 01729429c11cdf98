/** The console for operators of each role: their identity, the buttons that are off and why, and the changes made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantAddress } from '../../actors/tenants/tenant-keys.ts';
import { storeDeadLetter } from '../http/operator-api/stored-dead-letter.ts';
import { ADMIN_TOKEN } from '../http/service-fixture.ts';
import { sharedService } from '../http/shared-service.ts';
import { openConsole } from './console-session.ts';

const BEN = 'token-of-ben-who-looks';

const { service } = sharedService(
  {
    settings: {
      operatorTokens: [
        { name: 'ada', role: 'admin', token: ADMIN_TOKEN },
        { name: 'ben', role: 'read', token: BEN },
      ],
    },
  },
  async () => {
    await storeDeadLetter(service, tenantAddress('a'.repeat(24)), { type: 'put_key' });
  },
);

test('an operator who may only read sees their name, and buttons that explain why they are off', async (context) => {
  const { page, visit, stop } = await openConsole({ adminUrl: service.adminUrl, adminToken: BEN });
  context.after(() => stop());
  await page.getByRole('banner').getByText('ben read').waitFor();
  await visit('/dead-letters');
  const replay = page.getByRole('button', { name: 'Replay' });
  assert.equal(await replay.isDisabled(), true);
  assert.equal(await replay.getAttribute('title'), 'This asks for the role admin; yours is read.');
  await visit('/tenants');
  assert.equal(await page.getByRole('button', { name: 'New tenant' }).isDisabled(), true);
});

test('a change made in the console is on its page Audit, with its operator and its result', async (context) => {
  const { page, visit, stop } = await openConsole({ adminUrl: service.adminUrl, adminToken: ADMIN_TOKEN });
  context.after(() => stop());
  await visit('/dead-letters');
  const replay = page.getByRole('button', { name: 'Replay' });
  assert.equal(await replay.isDisabled(), false);
  const answeredPromise = page.waitForResponse((response) => response.url().endsWith('/replay'));
  await replay.click();
  assert.equal((await answeredPromise).status(), 200);
  await visit('/audit');
  await page.getByRole('row', { name: /ada admin.*200.*POST \/dead-letters\/\{id\}\/replay/ }).waitFor();
  await page.locator('main form').getByLabel('Operator').fill('ben');
  await page.keyboard.press('Enter');
  await page.getByText('No change matches.').waitFor();
});
