/**
 * Webhooks in the console: made with their secret shown once, tested, replayed, disabled, given a new secret, deleted.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';
import { streamIdOf } from '../../actors/tenants/stored-events/event-cursor.ts';
import type { WebhookProgress } from '../../actors/tenants/stored-webhooks/webhook-record.ts';
import { tenantKeys } from '../../actors/tenants/tenant-keys.ts';
import { sharedEndpoint } from '../actors/webhooks/shared-endpoint.ts';
import { sharedStack } from '../e2e/stack/shared-stack.ts';
import { until } from '../testbed/waiting.ts';
import type { Delivery } from '../testbed/webhook-server.ts';
import { accessibilityViolations } from './browser.ts';
import { type ConsoleSession, openConsole } from './console-session.ts';

let session: ConsoleSession;
after(() => session?.stop());
const stack = sharedStack({}, async () => {
  session = await openConsole({ adminUrl: stack.adminUrl(), adminToken: stack.adminToken });
});
const receivedDeliveries: Delivery[] = [];

const endpoint = sharedEndpoint((delivery, response) => {
  receivedDeliveries.push(delivery);
  response.writeHead(204).end();
});

test('a webhook is made, tested, replayed, disabled, given a new secret and deleted', async () => {
  const { page, visit } = session;
  const url = `${endpoint.url}/hooks`;
  await visit(`/tenants/${stack.tenantId}`);
  await page.getByRole('button', { name: 'New webhook' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill(url);
  await dialog.getByRole('button', { name: 'Create webhook' }).click();
  const shownLocator = page.locator('#fresh-secret');
  const secret = (await shownLocator.textContent()) ?? '';
  assert.match(secret, /^whsec_/);
  assert.deepEqual(await accessibilityViolations(page), []);
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('button', { name: `Test ${url}` }).click();
  await page.getByText('The endpoint answered 204.').waitFor();
  const tested = receivedDeliveries[0];
  assert.ok(tested);
  assert.deepEqual(
    (new Webhook(secret).verify(tested.body, tested.headers) as { type: string }).type,
    'webhook.test',
  );

  // Events are sent, also by a service that was killed meanwhile.
  await stack.end('SIGKILL');
  await stack.start();
  await stack.admin.post(`/actors/${stack.tenantId}/${stack.shopId}/pause`, {});
  await until('the event is delivered', async () =>
    receivedDeliveries.some(({ body }) => (JSON.parse(body) as { type: string }).type === 'queue.paused'),
  );
  await session.stop();
  session = await openConsole(
    { adminUrl: stack.adminUrl(), adminToken: stack.adminToken },
    { ownClock: true },
  );
  const secondPage = session.page;
  await session.visit(`/tenants/${stack.tenantId}`);

  await secondPage.getByRole('button', { name: `Attempts of ${url}` }).click();
  const tries = secondPage.getByRole('table', { name: 'Last attempts, newest first' });
  await tries.getByText('queue.paused').first().waitFor();
  await tries.getByText('204', { exact: true }).first().waitFor();
  const eventId = await giveUp();
  // Its list is fetched again by itself, every five seconds.
  await secondPage.clock.fastForward(5_000);
  await secondPage.getByRole('button', { name: `Replay ${eventId}` }).waitFor();
  assert.deepEqual(await accessibilityViolations(secondPage), []);
  const times = () => receivedDeliveries.filter(({ headers }) => headers['webhook-id'] === eventId).length;
  const before = times();
  await secondPage.getByRole('button', { name: `Replay ${eventId}` }).click();
  await until('the event is sent once more', async () => times() > before);
  await secondPage.clock.fastForward(5_000);
  await secondPage.getByRole('button', { name: `Replay ${eventId}` }).waitFor({ state: 'detached' });
  const timesBefore = times();
  await secondPage.getByLabel('Events since').fill('2020-01-01T00:00:00');
  await secondPage.getByRole('button', { name: 'Replay the first 200' }).click();
  await secondPage.getByText(/^\d+ on their way\.$/).waitFor();
  await until('all are sent once more', async () => times() > timesBefore);
  await secondPage.getByRole('button', { name: 'Close' }).click();
  await tries.waitFor({ state: 'detached' });
  await secondPage.getByRole('button', { name: `Disable ${url}` }).click();
  await secondPage.getByRole('button', { name: `Enable ${url}` }).click();
  await secondPage.getByRole('button', { name: `Rotate secret of ${url}` }).click();
  const fresh = (await secondPage.locator('#fresh-secret').textContent()) ?? '';
  assert.ok(fresh.startsWith('whsec_') && fresh !== secret);
  await secondPage.getByRole('button', { name: 'I have kept it' }).click();
  await secondPage.getByRole('button', { name: `Delete ${url}` }).click();
  await secondPage.getByRole('button', { name: 'Delete it now' }).click();
  await secondPage.getByRole('button', { name: `Delete ${url}` }).waitFor({ state: 'detached' });
});

test('a webhook whose only shop was erased stays one of no shop, until it is made one of all', async () => {
  const { id } = (await stack.admin.post('/tenants', { name: 'Erased', plan: 'free' })).data;
  const path = `/tenants/${id}`;
  const shop = await stack.admin.post(`${path}/shops`, { name: 'Erased bakery' });
  const url = `${endpoint.url}/erased`;
  await stack.admin.post(`${path}/webhooks`, { url, shops: [shop.data.id] });
  await stack.admin.delete(`${path}/shops/${shop.data.id}`);
  const stored = async () => (await stack.admin.get(`${path}/webhooks`)).data as { items: [Stored] };
  type Stored = { url: string; shops: string[] | null };
  await until('the shop is off the list', async () => (await stored()).items[0].shops?.length === 0);
  const { page, visit } = session;
  await visit(path);
  await page.getByRole('button', { name: `Change ${url}` }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Shops (none chosen: still none, all its shops were erased)').waitFor();
  await dialog.getByLabel('Address').fill(`${url}/new`);
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [{ url: moved, shops }] = (await stored()).items;
  assert.deepEqual([moved, shops], [`${url}/new`, []]);
  await page.getByRole('button', { name: `Change ${url}/new` }).click();
  await dialog.getByLabel('All shops').check();
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await stored()).items[0].shops, null);
  await page.getByRole('button', { name: `Change ${url}/new` }).click();
  await dialog.getByLabel('All shops').uncheck();
  await dialog.getByRole('button', { name: 'Change it' }).click();
  await dialog.getByRole('alert').getByText('shops').waitFor();
  assert.deepEqual(await accessibilityViolations(page), []);
});

/**
 * Notes the delivered event of the only webhook as given up, which takes a day of failures otherwise. Answers its id
 * once the service shows it.
 */
async function giveUp(): Promise<string> {
  const path = `/tenants/${stack.tenantId}/webhooks`;
  const listedAnswer = await stack.admin.get(path);
  const { id } = (listedAnswer.data as { items: [{ id: string }] }).items[0];
  const { eventId } = (
    (await stack.admin.get(`${path}/${id}/attempts`)).data as { items: [{ eventId: string }] }
  ).items[0];
  const redis = new Redis(stack.redis.url);
  const { webhookProgress } = tenantKeys(stack.tenantId);
  const progress = JSON.parse((await redis.hget(webhookProgress, id)) ?? '{}') as WebhookProgress;
  await redis.hset(webhookProgress, id, JSON.stringify({ ...progress, dead: [streamIdOf(eventId)] }));
  redis.disconnect();
  return eventId;
}
