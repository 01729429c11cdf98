/** The remaining data of an erased shop's events with webhooks: real actors and Redis, a real server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProgress, writeOfProgress } from '../../../actors/tenants/stored-webhooks/webhook-progress.ts';
import { tenantAddress, tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { firstProgress } from '../../../actors/webhooks/progress.ts';
import { erase } from '../../http/operator-api/erase.ts';
import { sharedRealService } from '../../http/shared-service.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

/** Ids of the events that came. */
const received: string[] = [];
const endpoint = sharedEndpoint(({ path, headers }, response) => {
  received.push(String(headers['webhook-id']));
  response.writeHead(path.startsWith('/dead') ? 500 : 204, { connection: 'close' }).end();
});
const service = sharedRealService();

const { account, create, untilRecorded } = webhookAccounts(() => service);

test('the attempts of an erased shop are erased with it, and those of other shops stay', async () => {
  const { tenant, shopId, steer } = await account();
  const other = await service.shop(tenant);
  const hook = await create(tenant, { url: `${endpoint.url}/erased-shop` });
  await steer('pause');
  await untilRecorded(hook, 1);
  const { status } = await service.operator('POST', `/actors/${tenant.id}/${other}/pause`, {});
  assert.equal(status, 200);
  await untilRecorded(hook, 2);
  const { webhookAttempts } = tenantKeys(tenant.id);
  const { store } = service.runtime.node;
  const [erased, kept] = received;
  assert.deepEqual([received.length, erased === kept], [2, false]);
  await erase(service.operator, `/tenants/${tenant.id}/shops/${shopId}`);
  await untilRecorded(hook, 1);
  const [dump] = (await store.append([['DUMP', webhookAttempts]])) as [string];
  assert.deepEqual([dump.includes(String(erased)), dump.includes(String(kept))], [false, true]);
});

test('a webhook whose shops were erased may be changed with its empty list, which no other may', async () => {
  const { tenant, shopId } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/of-one`, shops: [shopId] });
  await erase(service.operator, `/tenants/${tenant.id}/shops/${shopId}`);
  const changedReply = await hook.call('PATCH', '', { url: `${endpoint.url}/moved`, shops: [] });
  assert.deepEqual([changedReply.status, changedReply.body.data?.shops], [200, []], changedReply.text);
  assert.deepEqual((await hook.call('PATCH', '', { shops: null })).body.data.shops, null);
  const { status, body } = await hook.call('PATCH', '', { shops: [] });
  assert.deepEqual([status, body.error.fields[0].field], [422, 'shops']);
  assert.match(body.error.fields[0].message, /leave it out/);
});

test('an erased shop takes its dead letters along, also those of a disabled webhook', async () => {
  const { tenant, shopId, steer } = await account();
  const other = await service.shop(tenant);
  const steerOther = (word: string) => service.operator('POST', `/actors/${tenant.id}/${other}/${word}`, {});
  const paths = ['/dead', '/dead-disabled'];
  const [hook, disabled] = await Promise.all(
    paths.map((path) => create(tenant, { url: `${endpoint.url}${path}` })),
  );
  assert.ok(hook && disabled);
  const { webhookProgress } = tenantKeys(tenant.id);
  const { store, actors } = service.runtime.node;
  const progressOf = async (id: string) => {
    const progress = (await readProgress(store, webhookProgress, [id])).get(id);
    return progress ?? firstProgress({ since: '0-0', enabledAtMs: 0 });
  };
  /** Waits until each webhook has these numbers of dead letters and retries. */
  const untilCounts = (dead: number, retries: number, ...webhooks: readonly { readonly id: string }[]) =>
    eventually(async () => {
      const progresses = await Promise.all(webhooks.map(({ id }) => progressOf(id)));
      return progresses.every(
        (progress) => progress.dead.length === dead && progress.retries.length === retries,
      );
    });
  await steer('pause');
  await steerOther('pause');
  await untilCounts(0, 2, hook, disabled);
  // Seven attempts were made for each event, and the next is due.
  const address = tenantAddress(tenant.id);
  for (const { id } of [hook, disabled]) {
    const progressBefore = await progressOf(id);
    const retries = progressBefore.retries.map((retry) => ({ ...retry, attemptCount: 7, dueAtMs: 0 }));
    await store.commit(address.shard, [writeOfProgress(webhookProgress, id, { ...progressBefore, retries })]);
  }
  await actors.restart(address);
  await actors.state(address);
  await untilCounts(2, 0, hook, disabled);
  // Both shops have a waiting event as well.
  await steer('resume');
  await steerOther('resume');
  await untilCounts(2, 2, hook, disabled);
  assert.equal((await disabled.call('PATCH', '', { disabled: true })).status, 200);

  await erase(service.operator, `/tenants/${tenant.id}/shops/${shopId}`);
  const left = await Promise.all([progressOf(hook.id), progressOf(disabled.id)]);
  assert.deepEqual(
    left.map(({ dead, retries }) => [dead.length, retries.length]),
    Array(2).fill([1, 1]),
  );
  // The next write of the pump restores none of them.
  await steerOther('pause');
  await untilCounts(1, 2, hook);
  const { body } = await hook.call('GET', '/attempts');
  assert.deepEqual(body.data.deadLetters, [
    body.data.items.find((one: { isDead: boolean }) => one.isDead).eventId,
  ]);
});
