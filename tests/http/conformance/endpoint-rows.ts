import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS } from '../../../runtime/durations.ts';
import { allBut, type Target, type TestTenant } from '../target.ts';

/** docs/contract.md, Endpoints, the table; path parameters filled in by the test. */
const ENDPOINTS = [
  ['GET', '/me', 'none', 200],
  ['GET', '/shops', 'shops.read', 200],
  ['POST', '/shops', 'shops.write', 201],
  ['GET', '/shops/{idOrName}', 'shops.read', 200],
  ['GET', '/shops/{idOrName}/channels/msgapp', 'msgapp.read', 200],
  ['POST', '/shops/{idOrName}/channels/msgapp/connect', 'msgapp.connect', 200],
  ['GET', '/shops/{idOrName}/channels/msgapp/connect', 'msgapp.connect', 200],
  ['POST', '/shops/{idOrName}/channels/msgapp/disconnect', 'msgapp.connect', 200],
  ['POST', '/shops/{idOrName}/messages', 'messages.send', 202],
  ['GET', '/shops/{idOrName}/messages', 'messages.read', 200],
  ['GET', '/messages/{id}', 'messages.read', 200],
  ['POST', '/shops/{idOrName}/statuses', 'statuses.post', 202],
  ['GET', '/shops/{idOrName}/groups', 'groups.read', 200],
  ['GET', '/shops/{idOrName}/contacts/consented', 'contacts.read', 200],
  ['POST', '/shops/{idOrName}/contacts/consented', 'contacts.write', 202],
  ['DELETE', '/shops/{idOrName}/contacts/consented', 'contacts.write', 200],
  ['GET', '/shops/{idOrName}/policy', 'messages.read', 200],
  ['GET', '/events', 'messages.read', 200],
  ['POST', '/shops/{idOrName}/channels/msgapp/pairing-code', 'msgapp.connect', 200],
  ['GET', '/shops/{idOrName}/inbound', 'inbound.read', 200],
  ['GET', '/inbound/{id}', 'inbound.read', 200],
  ['GET', '/inbound/{id}/media', 'inbound.read', 200],
  ['POST', '/inbound/{id}/read', 'inbound.read', 200],
  ['POST', '/inbound/{id}/reply', 'messages.send', 202],
  ['GET', '/webhooks', 'webhooks.read', 200],
  ['POST', '/webhooks', 'webhooks.write', 201],
  ['GET', '/webhooks/{webhookId}', 'webhooks.read', 200],
  ['PATCH', '/webhooks/{webhookId}', 'webhooks.write', 200],
  ['DELETE', '/webhooks/{webhookId}', 'webhooks.write', 200],
  ['POST', '/webhooks/{webhookId}/rotate-secret', 'webhooks.write', 200],
  ['POST', '/webhooks/{webhookId}/test', 'webhooks.write', 200],
  ['GET', '/webhooks/{webhookId}/attempts', 'webhooks.read', 200],
  ['POST', '/webhooks/{webhookId}/replay', 'webhooks.write', 200],
  ['POST', '/messages/{id}/cancel', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/queue/cancel', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/scheduled', 'messages.send', 201],
  ['GET', '/shops/{idOrName}/scheduled', 'messages.read', 200],
  ['GET', '/shops/{idOrName}/scheduled/{id}', 'messages.read', 200],
  ['DELETE', '/shops/{idOrName}/scheduled/{id}', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/batches', 'messages.send', 201],
  ['GET', '/shops/{idOrName}/batches', 'messages.read', 200],
  ['GET', '/shops/{idOrName}/batches/{id}', 'messages.read', 200],
  ['POST', '/shops/{idOrName}/batches/{id}/recipients', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/batches/{id}/pause', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/batches/{id}/resume', 'messages.send', 200],
  ['POST', '/shops/{idOrName}/batches/{id}/cancel', 'messages.send', 200],
  ['GET', '/docs', 'none', 200],
  ['GET', '/docs/{slug}', 'none', 200],
] as const;

/** An address without a listener, which a shop of a simulated network may name. */
const WEBHOOK = { url: 'http://127.0.0.1:9/hooks' };
const TEXT = { channel: 'msgapp', to: '+41791234567', text: 'hello' };
const RECIPIENTS = [{ to: '+41791234567' }];
const SCHEDULED = { ...TEXT, sendAt: new Date(Date.now() + DAY_MS).toISOString() };
const BATCH = { name: 'news', text: 'hello', recipients: RECIPIENTS };

const BODIES: Readonly<Record<string, object>> = {
  'POST /shops': { name: 'A new shop' },
  'POST /shops/{idOrName}/channels/msgapp/pairing-code': { phone: '+41791234567' },
  'POST /shops/{idOrName}/messages': TEXT,
  'POST /shops/{idOrName}/statuses': { caption: 'hello' },
  'POST /shops/{idOrName}/contacts/consented': { contacts: [{ phone: '+41791234567' }] },
  'DELETE /shops/{idOrName}/contacts/consented': { phone: '+41791234567' },
  'POST /inbound/{id}/read': {},
  'POST /inbound/{id}/reply': { text: 'hello' },
  'POST /webhooks': WEBHOOK,
  'PATCH /webhooks/{webhookId}': { types: ['message.failed'] },
  'POST /webhooks/{webhookId}/replay': { eventIds: [] },
  'POST /messages/{id}/cancel': {},
  'POST /shops/{idOrName}/queue/cancel': { to: '+41791234567' },
  'POST /shops/{idOrName}/scheduled': SCHEDULED,
  'DELETE /shops/{idOrName}/scheduled/{id}': {},
  'POST /shops/{idOrName}/batches': BATCH,
  'POST /shops/{idOrName}/batches/{id}/recipients': { recipients: RECIPIENTS },
  'POST /shops/{idOrName}/batches/{id}/pause': {},
  'POST /shops/{idOrName}/batches/{id}/resume': {},
  'POST /shops/{idOrName}/batches/{id}/cancel': {},
};

/** The code of what is not there, by the name of its part of a path. */
const MISSING = [
  ['{idOrName}', 'SHOP_NOT_FOUND'],
  ['{webhookId}', 'WEBHOOK_NOT_FOUND'],
  ['{id}', 'MESSAGE_NOT_FOUND'],
] as const;

/** A tenant with a connected shop, which receives the words of what people write, and whose queue is paused. */
interface Account {
  readonly owner: TestTenant;
  readonly shopId: string;
  /** A message that waits in the paused queue. */
  readonly messageId: string;
}

async function openAccount({ api, admin, adminToken, tenant, shop, connect }: Target): Promise<Account> {
  const owner = await tenant({ inbound: 'texts' });
  const shopId = await shop(owner);
  await connect(owner.key, shopId);
  // A message in progress cannot be cancelled.
  const pausedReply = await admin.call('POST', `/actors/${owner.id}/${shopId}/pause`, {
    key: adminToken,
    json: {},
  });
  assert.equal(pausedReply.status, 200, pausedReply.text);
  const json = { ...TEXT, to: '+41791230000' };
  const sentReply = await api.call('POST', `/shops/${shopId}/messages`, { key: owner.key, json });
  assert.equal(sentReply.status, 202, sentReply.text);
  return { owner, shopId, messageId: sentReply.body.data.id };
}

/** Makes what a path names in an account. Resolves with the path with its ids. */
async function filled(target: Target, { owner, shopId, messageId }: Account, path: string): Promise<string> {
  const { api, write } = target;
  const made = async (list: string, json: object): Promise<string> => {
    const reply = await api.call('POST', list, { key: owner.key, json });
    assert.ok(reply.body.success, reply.text);
    return reply.body.data.id;
  };
  const shop = `/shops/${shopId}`;
  let id = messageId;
  if (path.includes('/scheduled/{id}')) id = await made(`${shop}/scheduled`, SCHEDULED);
  // A batch that has not started takes recipients.
  if (path.includes('/batches/{id}')) id = await made(`${shop}/batches`, { ...BATCH, paused: true });
  if (path.includes('{webhookId}')) id = await made('/webhooks', WEBHOOK);
  if (path.startsWith('/inbound/{id}')) {
    await write(owner, shopId);
    id = (await api.call('GET', `${shop}/inbound`, { key: owner.key })).body.data.items[0].id;
  }
  return path
    .replace('{idOrName}', shopId)
    .replace(/\{(id|webhookId)\}/, id)
    .replace('{slug}', 'getting-started');
}

/** docs/contract.md, Endpoints. */
export function endpointRows(target: () => Target): void {
  // Calls of a stranger change nothing, so one account is enough.
  let untouched: Promise<Account> | undefined;

  test('every declared endpoint is in the table, with its permission', () => {
    const declared = Object.entries(target().api.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        ...[method.toUpperCase(), path],
        operation['x-permission'] ?? 'none',
      ]),
    );
    const listed = ENDPOINTS.map(([method, path, permission]) => [method, path, permission]);
    const joined = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(' ')).sort();
    assert.deepEqual(joined(listed), joined(declared));
  });

  for (const [method, path, permission, status] of ENDPOINTS) {
    const json = BODIES[`${method} ${path}`];

    test(`${method} ${path} answers ${status} in the envelope, with request id and rate headers`, async (context) => {
      const isFile = path.endsWith('/media');
      if (isFile && !target().keepsFiles) return context.skip('this network keeps no files');
      const account = await openAccount(target());
      const { owner } = account;
      // A shop that is linked gets no code.
      const shopId = path.endsWith('/pairing-code') ? await target().shop(owner) : account.shopId;
      const asked = await filled(target(), { ...account, shopId }, path);
      const reply = await target().api.call(method, asked, { key: owner.key, json });
      assert.equal(reply.status, status, reply.text);
      assert.ok(reply.headers['x-ratelimit-remaining']);
      if (isFile) return assert.equal(reply.headers['content-type'], 'image/jpeg');
      assert.equal(reply.body.success, true);
      assert.equal(typeof reply.body.data, 'object');
    });

    test(`${method} ${path} without ${permission} is ${permission === 'none' ? 'allowed' : 'FORBIDDEN_PERMISSION'}`, async () => {
      const { api, tenant, key } = target();
      const owner = await tenant();
      const lacking = await key(owner.id, { permissions: permission === 'none' ? [] : allBut(permission) });
      const asked = path.replace('{slug}', 'getting-started').replace(/\{\w+\}/g, 'missing');
      // Permission comes before validation and before the shop: neither the body nor the name is looked at.
      const reply = await api.call(method, asked, { key: lacking.key, json: { nonsense: true } });
      assert.equal(reply.status, permission === 'none' ? 200 : 403, reply.text);
      if (permission !== 'none') assert.equal(reply.body.error.code, 'FORBIDDEN_PERMISSION');
      assert.ok(reply.headers['x-ratelimit-remaining'], 'errors carry the rate headers too');
    });

    test(`${method} ${path} without a key is API_KEY_MISSING`, async () => {
      const reply = await target().api.call(method, path.replace(/\{\w+\}/g, 'any'), { json });
      assert.deepEqual([reply.status, reply.body.error.code], [401, 'API_KEY_MISSING']);
    });

    const missing = MISSING.find(([part]) => path.includes(part))?.[1];
    if (missing !== undefined) {
      test(`${method} ${path} of another tenant is answered as missing`, async () => {
        untouched ??= openAccount(target());
        const asked = await filled(target(), await untouched, path);
        const stranger = await target().tenant();
        const reply = await target().api.call(method, asked, { key: stranger.key, json });
        assert.equal(reply.status, 404, reply.text);
        assert.equal(reply.body.error.code, missing);
      });
    }
  }
}
