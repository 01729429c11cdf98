/** Webhooks through the operators' API: real actors and Redis, a real server whose answers the test sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { storedAtMs, streamIdOf } from '../../../actors/tenants/stored-events/event-cursor.ts';
import type { WebhookRecord } from '../../../actors/tenants/stored-webhooks/webhook-record.ts';
import { tenantAddress, tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { secretUse } from '../../../actors/webhooks/webhook-secrets.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { sharedRealService } from '../../http/shared-service.ts';
import { eventually } from '../../testbed/waiting.ts';
import type { Delivery } from '../../testbed/webhook-server.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

const receivedDeliveries: Delivery[] = [];
/** The server's answer on a path; default: 204. */
const answers = new Map<string, { readonly status: number; readonly headers?: Record<string, string> }>();
const endpoint = sharedEndpoint((delivery, response) => {
  receivedDeliveries.push(delivery);
  const { status, headers } = answers.get(delivery.path) ?? { status: 204 };
  response.writeHead(status, headers).end();
});
const service = sharedRealService();

const deliveriesAt = (path: string) => receivedDeliveries.filter((delivery) => delivery.path === path);

const { account, create, untilRecorded } = webhookAccounts(() => service);

test('an event is sent once, signed by Standard Webhooks, to each webhook with its type', async () => {
  const { tenant, shopId, steer } = await account();
  await steer('pause');
  const all = await create(tenant, { url: `${endpoint.url}/all` });
  await create(tenant, { url: `${endpoint.url}/resumed`, types: ['queue.resumed'], shops: [shopId] });
  await steer('resume');
  await steer('pause');
  await eventually(async () => deliveriesAt('/all').length === 2 && deliveriesAt('/resumed').length === 1);
  const types = deliveriesAt('/all').map(({ body, headers }) => {
    const event = new Webhook(all.secret).verify(body, headers as Record<string, string>) as {
      id: string;
      type: string;
      data: { shopId: string };
    };
    assert.deepEqual([headers['webhook-id'], event.data.shopId], [event.id, shopId]);
    return event.type;
  });
  assert.deepEqual(types.sort(), ['queue.paused', 'queue.resumed'], 'what was before it is not sent');
  assert.throws(() =>
    new Webhook('whsec_AAAA').verify(
      deliveriesAt('/all')[0]?.body ?? '',
      deliveriesAt('/all')[0]?.headers as Record<string, string>,
    ),
  );
  await untilRecorded(all, 2);
  const { body } = await all.call('GET', '/attempts');
  assert.deepEqual(
    body.data.items.map(({ status, error, number }: Record<string, unknown>) => [status, error, number]),
    Array(2).fill([204, null, 1]),
  );
  const listedReply = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
  assert.equal(listedReply.body.data.items.length, 2);
  assert.ok(!listedReply.text.includes('whsec_'), 'no secret is shown again');
});

test('a rotated secret also signs, and neither is in Redis in plain text', async () => {
  const { tenant, steer } = await account();
  const { secret, call } = await create(tenant, { url: `${endpoint.url}/rotated` });
  const rotatedReply = await call('POST', '/rotate-secret', {});
  const fresh = rotatedReply.body.data.secret as string;
  assert.notEqual(fresh, secret);
  await steer('pause');
  await eventually(async () => deliveriesAt('/rotated').length === 1);
  const [event] = deliveriesAt('/rotated');
  assert.ok(event);
  const { body, headers } = event;
  assert.equal(String(headers['webhook-signature']).split(' ').length, 2);
  for (const each of [secret, fresh]) new Webhook(each).verify(body, headers as Record<string, string>);
  const [stored] = await service.runtime.node.store.read([['HVALS', tenantKeys(tenant.id).webhooks]]);
  for (const each of [secret, fresh]) assert.ok(!JSON.stringify(stored).includes(each.slice(6, 20)));
});

test('secrets are sealed again with the newest key, and an unreadable secret disables its webhook', async (context) => {
  const { tenant, steer } = await account();
  const [old, lost] = [
    await create(tenant, { url: `${endpoint.url}/old-key` }),
    await create(tenant, { url: `${endpoint.url}/lost-key` }),
  ];
  const { webhooks } = tenantKeys(tenant.id);
  const address = tenantAddress(tenant.id);
  const { store, actors } = service.runtime.node;
  const record = async (id: string) => {
    const [stored] = await store.read([['HGET', webhooks, id]]);
    return JSON.parse(String(stored)) as WebhookRecord;
  };
  const sealBy = async ({ id, secret }: { id: string; secret: string }, key: number) => {
    const sealedId = textCipher([Buffer.alloc(32, key)], 'webhooks').seal(secretUse(tenant.id, id), secret);
    const changedText = JSON.stringify({ ...(await record(id)), secret: sealedId });
    await store.commit(address.shard, [['HSET', webhooks, id, changedText]]);
  };
  const restart = async () => {
    await actors.restart(address);
    await actors.state(address);
  };
  await sealBy(old, 2);
  await sealBy(lost, 3);
  const told: unknown[] = [];
  context.after(
    service.actors.feed.subscribe(({ type, data }) => {
      if (type === 'webhook') told.push(data);
    }),
  );
  await restart();
  const newestCipher = textCipher([Buffer.alloc(32, 1)], 'webhooks');
  const { secret } = await record(old.id);
  assert.equal(
    newestCipher.open(secretUse(tenant.id, old.id), secret),
    old.secret,
    'the old key can be taken away',
  );
  const disabledBy = async () => (await record(lost.id)).disabled?.why;
  assert.equal(await disabledBy(), 'unreadable');
  const unreadable = { tenantId: tenant.id, webhookId: lost.id, state: 'disabled', disabledBy: 'unreadable' };
  await eventually(async () => told.length > 0);
  assert.deepEqual(told, [unreadable]);
  assert.equal((await lost.call('PATCH', '', { disabled: false })).status, 409);
  assert.match((await lost.call('POST', '/test', {})).body.data.error, /CREDENTIALS_KEY/);
  await steer('pause');
  await eventually(async () => deliveriesAt('/old-key').length === 1);
  assert.equal(deliveriesAt('/lost-key').length, 0);
  // The key it was sealed with is back.
  await sealBy(lost, 2);
  await restart();
  assert.equal(await disabledBy(), undefined);
  await eventually(async () => deliveriesAt('/lost-key').length === 1);
  await sealBy(lost, 3);
  await restart();
  const rotated = (await lost.call('POST', '/rotate-secret', {})).body.data;
  assert.deepEqual([rotated.disabledBy, rotated.formerSecretUntil], [null, null]);
  await steer('resume');
  await eventually(async () => deliveriesAt('/lost-key').length >= 2);
  const { body, headers } = deliveriesAt('/lost-key').at(-1) as Delivery;
  new Webhook(rotated.secret).verify(body, headers as Record<string, string>);
});

test('operators are notified once of a webhook that the service disabled', async (context) => {
  const { tenant, steer } = await account();
  const told: unknown[] = [];
  context.after(
    service.actors.feed.subscribe(({ type, data }) => {
      if (type === 'webhook') told.push(data);
    }),
  );
  answers.set('/told-gone', { status: 410 });
  const gone = await create(tenant, { url: `${endpoint.url}/told-gone` });
  const steered = await create(tenant, { url: `${endpoint.url}/told-steered` });
  const { disabled } = service.actors.webhooks.pump.figures();
  assert.equal((await steered.call('PATCH', '', { disabled: true })).body.data.disabledBy, 'operator');
  await steer('pause');
  await eventually(async () => told.length > 0);
  const { node } = service.runtime;
  const address = tenantAddress(tenant.id);
  const { enabledAtMs } = (await node.actors.state<TenantState>(address))?.webhooks.get(gone.id) ?? {};
  const again = { type: 'disable_webhook', webhookId: gone.id, enabledAtMs, why: 'gone' };
  await node.actors.ask(address, again);
  assert.deepEqual(told, [
    { tenantId: tenant.id, webhookId: gone.id, state: 'disabled', disabledBy: 'gone' },
  ]);
  assert.equal(service.actors.webhooks.pump.figures().disabled, disabled + 1);
});

test('a redirect is a failure, 410 disables, and missed events are sent once it is enabled', async () => {
  const { tenant, steer } = await account();
  answers.set('/moved', { status: 302, headers: { location: `${endpoint.url}/elsewhere` } });
  const moved = await create(tenant, { url: `${endpoint.url}/moved` });
  answers.set('/gone', { status: 410 });
  const gone = await create(tenant, { url: `${endpoint.url}/gone` });
  await steer('pause');
  await eventually(async () => deliveriesAt('/moved').length === 1 && deliveriesAt('/gone').length === 1);
  const view = async (id: string) => {
    const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
    return (body.data.items as { id: string }[]).find((one) => one.id === id) as unknown as {
      disabledBy: string | null;
      waiting: number;
      failingSince: string | null;
    };
  };
  await eventually(async () => (await view(gone.id)).disabledBy === 'gone');
  await eventually(async () => (await view(moved.id)).waiting === 1);
  assert.equal(deliveriesAt('/elsewhere').length, 0);
  assert.equal((await gone.call('POST', '/replay', { since: '2020-01-01T00:00:00Z' })).status, 409);
  await steer('resume');
  answers.delete('/gone');
  assert.equal((await gone.call('PATCH', '', { disabled: false })).status, 200);
  await eventually(
    async () => new Set(deliveriesAt('/gone').map(({ body }) => JSON.parse(body).type)).size === 2,
  );
  answers.delete('/moved');
  const replayedReply = await moved.call('POST', '/replay', { since: '2020-01-01T00:00:00Z' });
  assert.equal(replayedReply.body.data.replayed, 2);
  await eventually(async () => (await view(moved.id)).waiting === 0);
  const ids = deliveriesAt('/moved').map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, 2, 'a repeated event keeps its id');
});

test('an inner address, another tenant’s shop, an empty list or two ways of a replay are refused', async () => {
  const { tenant } = await account();
  for (const [json, field] of [
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'https://example.com:8443/' }, 'url'],
    [{ url: 'https://example.com:80/' }, 'url'],
    [{ url: 'https://example.com:0/' }, 'url'],
    [{ url: 'https://93.184.215.14:80/' }, 'url'],
    [{ url: 'https://example.com:443/', shops: ['66b1f0a2c3d4e5f607182906'] }, 'shops.0'],
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'http://example.com/hook' }, 'url'],
    [{ url: `${endpoint.url}/x`, types: ['message.queued'] }, 'types.0'],
    [{ url: `${endpoint.url}/x`, types: [] }, 'types'],
    [{ url: `${endpoint.url}/x`, shops: [] }, 'shops'],
  ] as const) {
    const { status, body } = await service.operator('POST', `/tenants/${tenant.id}/webhooks`, json);
    assert.deepEqual([status, body.error.fields[0].field], [422, field]);
  }
  const { call, id } = await create(tenant, { url: `${endpoint.url}/tested` });
  for (const field of ['types', 'shops']) {
    const { status, body } = await call('PATCH', '', { [field]: [] });
    assert.deepEqual([status, body.error.fields[0].field], [422, field]);
  }
  assert.equal((await call('POST', '/replay', { since: '2020-01-01T00:00:00Z', eventIds: [] })).status, 422);
  assert.deepEqual((await call('POST', '/test', {})).body.data, { status: 204, error: null });
  assert.equal(JSON.parse(deliveriesAt('/tested')[0]?.body ?? '{}').type, 'webhook.test');
  assert.deepEqual((await call('DELETE', '', {})).body.data, { id, deleted: true });
  assert.equal((await call('POST', '/test', {})).status, 404);
});

test('a webhook at an address that is no longer allowed can be disabled, and not enabled there', async () => {
  const { tenant } = await account();
  const { id, call } = await create(tenant, { url: `${endpoint.url}/inside` });
  const { webhooks } = tenantKeys(tenant.id);
  const address = tenantAddress(tenant.id);
  const { store, actors } = service.runtime.node;
  const [storedId] = (await store.read([['HGET', webhooks, id]])) as [string];
  const inside = JSON.stringify({ ...JSON.parse(storedId), url: 'https://10.0.0.1/' });
  await store.commit(address.shard, [['HSET', webhooks, id, inside]]);
  await actors.restart(address);
  assert.equal((await call('PATCH', '', { disabled: true })).body.data.disabledBy, 'operator');
  assert.equal((await call('PATCH', '', { disabled: false })).status, 422);
  assert.equal((await call('PATCH', '', { disabled: false, url: `${endpoint.url}/inside` })).status, 200);
});

test('a replay counts the events that it sends: no unknown ones, and none twice', async () => {
  const { tenant, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/counted`, types: ['queue.paused'] });
  await steer('pause');
  await untilRecorded(hook, 1);
  const known = deliveriesAt('/counted')[0]?.headers['webhook-id'];
  const unknown = 'f'.repeat(12) + '0'.repeat(12);
  const replay = async (selection: { eventIds: unknown[] } | { since: string }) =>
    (await hook.call('POST', '/replay', selection)).body.data.replayed as number;
  assert.equal(await replay({ eventIds: [unknown] }), 0);
  assert.equal(await replay({ since: '9999-12-31T23:59:59.999Z' }), 0);
  let count = 1;
  for (const selection of [
    { eventIds: [known, unknown] },
    { eventIds: [known, String(known).toUpperCase()] },
    { since: '1969-12-31T23:59:59Z' },
    { since: '0000-01-01T00:00:00Z' },
  ]) {
    assert.equal(await replay(selection), 1);
    count += 1;
    await eventually(async () => deliveriesAt('/counted').length === count);
  }
});

test('a webhook that was away for longer than events are kept shows until when it missed some', async () => {
  const { tenant, steer } = await account();
  const [away, there] = [
    await create(tenant, { url: `${endpoint.url}/away` }),
    await create(tenant, { url: `${endpoint.url}/there` }),
  ];
  const missedUntil = async (id: string) => {
    const { body } = await service.operator('GET', `/tenants/${tenant.id}/webhooks`);
    return (body.data.items as { id: string; missedUntil: string | null }[]).find((one) => one.id === id)
      ?.missedUntil;
  };
  assert.equal((await away.call('PATCH', '', { disabled: true })).status, 200);
  for (const word of ['pause', 'resume', 'pause'] as const) await steer(word);
  await untilRecorded(there, 3);
  const gaps = () => service.actors.webhooks.pump.figures().gaps;
  const before = gaps();
  const { events } = tenantKeys(tenant.id);
  const { store } = service.runtime.node;
  await store.append([['XTRIM', events, 'MAXLEN', 1]]);
  const [[oldestEntry]] = await store.read([['XRANGE', events, '-', '+']]);
  assert.equal((await away.call('PATCH', '', { disabled: false })).status, 200);
  await untilRecorded(away, 1);
  assert.equal(await missedUntil(away.id), new Date(storedAtMs(oldestEntry?.[0] ?? '')).toISOString());
  assert.equal(await missedUntil(there.id), null);
  assert.equal(gaps(), before + 1);
  assert.ok(service.runtime.log.warnings.includes('events were removed before a webhook got them'));
});

test('a replay that waits while its actor is loaded again is refused or sent, never forgotten', async () => {
  const { tenant, shopId, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/loaded-again` });
  await steer('pause');
  await untilRecorded(hook, 1);
  const address = tenantAddress(tenant.id);
  const { actors } = service.runtime.node;
  const { pump } = service.actors.webhooks;
  const id = String(deliveriesAt('/loaded-again')[0]?.headers['webhook-id']);
  // The actor is in a turn, and loaded again right after it: the replay waits meanwhile.
  const turn = hook.call('PATCH', '', { types: null });
  const busy = actors.ask(address, { type: 'add_customers', phones: ['+33611111111'] });
  const restarted = actors.restart(address);
  const event = { streamId: streamIdOf(id), shopId };
  const replayed = pump.replay(tenant.id, hook.id, [event]).catch((error: Error) => error);
  await Promise.all([turn, busy.catch(() => undefined), restarted]);
  await actors.state(address);
  const outcome = await replayed;
  await steer('resume');
  await eventually(async () => deliveriesAt('/loaded-again').length >= 2);
  if (outcome === 'replayed') {
    await eventually(
      async () =>
        deliveriesAt('/loaded-again').filter((delivery) => delivery.headers['webhook-id'] === id).length ===
        2,
    );
  } else {
    assert.ok(outcome instanceof RuntimeFailure, String(outcome));
  }
});

test('the events of a tenant that is not active wait until it is again', async () => {
  const { tenant, steer } = await account();
  const hook = await create(tenant, { url: `${endpoint.url}/waits` });
  const activate = async (active: boolean) =>
    assert.equal((await service.operator('PATCH', `/tenants/${tenant.id}`, { active })).status, 200);
  await steer('pause');
  await untilRecorded(hook, 1);
  await activate(false);
  await service.runtime.node.actors.restart(tenantAddress(tenant.id));
  await service.runtime.node.actors.state(tenantAddress(tenant.id));
  await steer('resume');
  // An event of another tenant, stored later, is there first.
  const other = await account();
  await create(other.tenant, { url: `${endpoint.url}/others` });
  await other.steer('pause');
  await eventually(async () => deliveriesAt('/others').length === 1);
  assert.equal(deliveriesAt('/waits').length, 1);
  await activate(true);
  await eventually(async () => deliveriesAt('/waits').length === 2);
});

test('a restarted actor continues where it stopped, and an erased tenant leaves nothing', async () => {
  const { tenant, steer } = await account();
  const again = await create(tenant, { url: `${endpoint.url}/again` });
  await steer('pause');
  await untilRecorded(again, 1);
  await service.runtime.node.actors.restart(tenantAddress(tenant.id));
  await service.runtime.node.actors.state(tenantAddress(tenant.id));
  await steer('resume');
  await eventually(async () => deliveriesAt('/again').length === 2);
  assert.equal(new Set(deliveriesAt('/again').map(({ headers }) => headers['webhook-id'])).size, 2);
  // An erasure that takes longer than a second is answered 202, and goes on.
  const { status } = await service.operator('DELETE', `/tenants/${tenant.id}`, {});
  assert.ok(status === 200 || status === 202, `${status}`);
  const { webhooks, webhookProgress, webhookAttempts } = tenantKeys(tenant.id);
  await eventually(async () => {
    const [left] = await service.runtime.node.store.read([
      ['EXISTS', webhooks, webhookProgress, webhookAttempts],
    ]);
    return left === 0;
  });
});
