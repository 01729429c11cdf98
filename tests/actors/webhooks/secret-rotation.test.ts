/** Secrets that are rotated: two at once, and how long the former one signs. Before real actors and a real endpoint. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { AddressGuard } from '../../../actors/outbound/address-guard.ts';
import { nameLookup } from '../../../actors/outbound/name-lookup.ts';
import { tenantAddress } from '../../../actors/tenants/tenant-keys.ts';
import type { TenantState } from '../../../actors/tenants/tenant-state.ts';
import { WebhookPump } from '../../../actors/webhooks/webhook-pump.ts';
import { resealWebhook, secretUse } from '../../../actors/webhooks/webhook-secrets.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { systemRandom as random } from '../../../runtime/random.ts';
import { textCipher } from '../../../runtime/text-cipher.ts';
import { sharedRealService } from '../../http/shared-service.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import type { Delivery } from '../../testbed/webhook-server.ts';
import { sharedEndpoint } from './shared-endpoint.ts';
import { webhookAccounts } from './webhook-accounts.ts';

const BODY = '{"id":"1-1"}';

const receivedDeliveries: Delivery[] = [];
const endpoint = sharedEndpoint((delivery, response) => {
  receivedDeliveries.push(delivery);
  response.writeHead(204).end();
});
const service = sharedRealService();

const { account, create } = webhookAccounts(() => service);

/** The record that the tenant's actor has. */
async function recordOf(tenantId: string, id: string) {
  const state = await service.runtime.node.actors.state<TenantState>(tenantAddress(tenantId));
  const record = state?.webhooks.get(id);
  assert.ok(record);
  return record;
}

/** Returns those of the secrets that sign a delivery of the webhook at that time. */
async function signing(tenantId: string, id: string, atMs: number, secrets: readonly string[]) {
  const clock = new FakeClock();
  clock.stepWall(atMs - clock.wallMs());
  const { store, actors } = service.runtime.node;
  const pump = new WebhookPump({
    actors,
    store,
    clock,
    random,
    log: new QuietLog(),
    cipher: textCipher([Buffer.alloc(32, 1), Buffer.alloc(32, 2)], 'webhooks'),
    inbound: { eventOf: async () => undefined },
    messages: { message: () => Promise.reject(new Error('there are no messages')) },
    delivery: {
      guard: new AddressGuard({ allowLoopback: true, deniedRanges: [] }),
      resolve: nameLookup([]),
    },
  });
  const sentDelivery = await pump.send(tenantId, await recordOf(tenantId, id), { id: '1-1', body: BODY });
  assert.equal(sentDelivery.error, null);
  const headers = receivedDeliveries.at(-1)?.headers as Record<string, string>;
  // The library compares the time with its own clock, so signatures are made again for the time that was sent.
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signatures = String(headers['webhook-signature']).split(' ');
  return secrets.map((secret) => signatures.includes(new Webhook(secret).sign('1-1', sentAt, BODY)));
}

test('two rotations at once return two secrets, and both sign beside the one before them', async () => {
  const { tenant } = await account();
  const { id, secret } = await create(tenant, { url: endpoint.url });
  const rotate = () => service.actors.webhooks.operations.rotateSecret(tenant.id, id);
  const answers = await Promise.all([rotate(), rotate()]);
  const secrets = answers.map((answer) =>
    answer.ok ? answer.value.secret : assert.fail(answer.failure.code),
  );
  assert.deepEqual(await signing(tenant.id, id, Date.now(), [...secrets, secret]), [true, true, true]);
});

test('each former secret signs for its 24 hours, the last four at most, and under another key too', async () => {
  const { tenant } = await account();
  const { id, secret, call } = await create(tenant, { url: endpoint.url });
  const secrets = [secret];
  for (let count = 0; count < 5; count += 1)
    secrets.push((await call('POST', '/rotate-secret', {})).body.data.secret);
  assert.deepEqual(await signing(tenant.id, id, Date.now(), secrets), [false, true, true, true, true, true]);
  const { secret: presentId, former, earlier = [] } = await recordOf(tenant.id, id);
  const lastMs = earlier.at(-1)?.untilMs ?? 0;
  assert.deepEqual(await signing(tenant.id, id, lastMs, secrets), [false, false, true, true, true, true]);
  const cipher = textCipher([Buffer.alloc(32, 3), Buffer.alloc(32, 1)], 'webhooks');
  const movedWebhook = resealWebhook(tenant.id, await recordOf(tenant.id, id), { cipher, nowMs: Date.now() });
  const stored = [
    movedWebhook.secret,
    movedWebhook.former?.secret,
    ...(movedWebhook.earlier ?? []).map((secret) => secret.secret),
  ];
  assert.equal(stored.length, 5);
  for (const sealed of stored) assert.ok(cipher.isNewest(secretUse(tenant.id, id), sealed ?? ''));
  assert.ok(![presentId, former?.secret].includes(movedWebhook.secret));
  assert.equal(resealWebhook(tenant.id, movedWebhook, { cipher, nowMs: Date.now() }), movedWebhook);
});

test('a secret that was rotated away signs for 24 hours, and no longer', async () => {
  const { tenant } = await account();
  const { id, secret, call } = await create(tenant, { url: endpoint.url });
  const fromMs = Date.now();
  const rotatedReply = await call('POST', '/rotate-secret', {});
  const untilMs = Date.parse(rotatedReply.body.data.formerSecretUntil);
  assert.ok(untilMs >= fromMs + DAY_MS && untilMs <= Date.now() + DAY_MS, rotatedReply.text);
  const secrets = [rotatedReply.body.data.secret as string, secret];
  assert.deepEqual(await signing(tenant.id, id, untilMs - 1, secrets), [true, true]);
  assert.deepEqual(await signing(tenant.id, id, untilMs, secrets), [true, false]);
});
