/**
 * A tenant that is deactivated, and a webhook that is disabled or moved, during a slow try. Real actors and Redis, and
 * a real server whose answers the test sends.
 */
import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { sharedRealService } from '../../http/shared-service.ts';
import { eventually } from '../../testbed/waiting.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

/** Ids of the events that came, by path. */
const received = new Map<string, string[]>();
/** The requests that wait for their answer. */
const waiting: ((status: number, headers?: OutgoingHttpHeaders) => void)[] = [];
let isHeld = false;
const endpoint = sharedEndpoint(({ path, headers: { 'webhook-id': id = '' } }, response) => {
  received.set(path, [...(received.get(path) ?? []), id]);
  const answer = (status: number, headers: OutgoingHttpHeaders = {}) =>
    void response.writeHead(status, { connection: 'close', ...headers }).end();
  if (isHeld) waiting.push(answer);
  else answer(204);
});
const service = sharedRealService();

const { account, create, untilRecorded } = webhookAccounts(() => service);

/** A webhook with one event on its way to it, and the answer to that. */
async function underWay(path: string) {
  const { tenant, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}${path}` });
  isHeld = true;
  await steer('pause');
  await eventually(async () => waiting.length === 1);
  isHeld = false;
  const [answer] = waiting.splice(0);
  assert.ok(answer);
  const activate = async (active: boolean) =>
    assert.equal((await service.operator('PATCH', `/tenants/${tenant.id}`, { active })).status, 200);
  const attempts = async (): Promise<[number, number | null][]> =>
    (await hook.call('GET', '/attempts')).body.data.items.map(
      ({ number, status }: { number: number; status: number | null }) => [number, status],
    );
  const disabledBy = async () => {
    const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
    return body.data.items[0].disabledBy as string | null;
  };
  return { tenant, hook, steer, activate, attempts, disabledBy, answer };
}

for (const moment of ['while its tenant is not active', 'after its tenant is active again'] as const) {
  test(`a try that is answered ${moment} is recorded, and its event is not sent again`, async () => {
    const path = `/${moment.replaceAll(' ', '-')}`;
    const { hook, steer, activate, attempts, answer } = await underWay(path);
    await activate(false);
    assert.equal((await hook.call('POST', '/replay', { since: '2020-01-01T00:00:00Z' })).status, 409);
    if (moment === 'while its tenant is not active') {
      answer(204);
      await untilRecorded(hook, 1);
      await activate(true);
    } else {
      await activate(true);
      answer(204);
    }
    // The next event proves that all earlier ones were handled.
    await steer('resume');
    await untilRecorded(hook, 2);
    const ids = received.get(path) ?? [];
    assert.deepEqual([ids.length, new Set(ids).size], [2, 2]);
    assert.deepEqual(await attempts(), [
      [1, 204],
      [1, 204],
    ]);
  });
}

test('an endpoint whose 410 comes once an operator disabled it stays disabled by the operator', async () => {
  const { hook, attempts, disabledBy, answer } = await underWay('/late-gone');
  assert.equal((await hook.call('PATCH', '', { disabled: true })).status, 200);
  answer(410);
  await untilRecorded(hook, 1);
  assert.deepEqual([await disabledBy(), await attempts()], ['operator', [[1, 410]]]);
});

test('a 410 to an attempt from before the endpoint was enabled again does not disable it', async () => {
  const { hook, steer, disabledBy, answer } = await underWay('/mended');
  for (const disabled of [true, false])
    assert.equal((await hook.call('PATCH', '', { disabled })).status, 200);
  answer(410);
  await untilRecorded(hook, 1);
  await steer('resume');
  await untilRecorded(hook, 2);
  assert.equal(await disabledBy(), null);
});

for (const [title, change] of [
  ['moved', { url: 'https://example.com/hooks' }],
  ['enabled', { disabled: false }],
] as const) {
  test(`a webhook that is ${title} while its 410 is being recorded is not disabled`, async () => {
    const { tenant, hook, disabledBy, answer } = await underWay(`/judged-${title}`);
    const { actors } = service.runtime.node;
    const address = tenantAddress(tenant.id);
    const state = await actors.state<TenantState>(address);
    const enabledAtMs = state?.webhooks.get(hook.id)?.enabledAtMs;
    assert.equal((await hook.call('PATCH', '', change)).status, 200);
    // The pump asks this if it has not noticed the change.
    const judgement = { type: 'disable_webhook', webhookId: hook.id, enabledAtMs, why: 'gone' };
    await actors.ask(address, judgement);
    assert.equal(await disabledBy(), null);
    answer(204);
  });
}

test('an attempt in progress while its webhook is disabled and moved counts for neither address', async () => {
  const { hook, attempts, answer } = await underWay('/disabled');
  assert.equal((await hook.call('PATCH', '', { disabled: true })).status, 200);
  assert.equal((await hook.call('PATCH', '', { url: `${endpoint.url}/enabled` })).status, 200);
  answer(500);
  await untilRecorded(hook, 1);
  assert.equal(received.get('/enabled'), undefined, 'it is disabled still');
  assert.equal((await hook.call('PATCH', '', { disabled: false })).status, 200);
  await untilRecorded(hook, 2);
  assert.deepEqual(await attempts(), [
    [1, 204],
    [1, 500],
  ]);
});

test('a webhook that fails is shown as failing until it is moved', async () => {
  const { tenant, hook, answer } = await underWay('/fails');
  answer(500);
  await untilRecorded(hook, 1);
  const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
  const movedReply = await hook.call('PATCH', '', { url: `${endpoint.url}/mended` });
  assert.deepEqual(
    [body.data.items[0].failingSince === null, movedReply.body.data.failingSince],
    [false, null],
  );
});

test('two changes of a webhook at a time are both made', async () => {
  const { tenant } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/former` });
  const changes = [{ url: `${endpoint.url}/present` }, { types: ['message.failed'] }];
  const { operations } = service.actors.webhooks;
  await Promise.all(changes.map((change) => operations.change(tenant.id, hook.id, change, 'operator')));
  const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
  const [{ url, types }] = body.data.items;
  assert.deepEqual([url, types], [`${endpoint.url}/present`, ['message.failed']]);
});

test('an attempt in flight while its webhook is moved: the event goes to the new address', async () => {
  const { hook, steer, attempts, answer } = await underWay('/former');
  const movedReply = await hook.call('PATCH', '', { url: `${endpoint.url}/present` });
  assert.equal(movedReply.status, 200, movedReply.text);
  await steer('resume');
  await untilRecorded(hook, 1);
  assert.equal(received.get('/present')?.length, 1, 'the new event does not wait for the former address');
  answer(503, { 'retry-after': '36000' });
  await untilRecorded(hook, 3);
  await steer('pause');
  await untilRecorded(hook, 4);
  const [under = ''] = received.get('/former') ?? [];
  const present = received.get('/present') ?? [];
  assert.deepEqual([present.length, present[1]], [3, under]);
  assert.deepEqual(await attempts(), [
    [1, 204],
    [1, 204],
    [1, 503],
    [1, 204],
  ]);
});
