import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allBut, type Target } from './conformance-target.ts';

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
  ['POST', '/shops/{idOrName}/batches', 'messages.send', 201],
  ['GET', '/shops/{idOrName}/batches', 'messages.read', 200],
] as const;

/** An address without a listener, which a shop of a simulated network may name. */
const WEBHOOK = { url: 'http://127.0.0.1:9/hooks' };

const BODIES: Readonly<Record<string, object>> = {
  'POST /shops': { name: 'A new shop' },
  'POST /shops/{idOrName}/channels/msgapp/pairing-code': { phone: '+41791234567' },
  'POST /shops/{idOrName}/messages': { channel: 'msgapp', to: '+41791234567', text: 'hello' },
  'POST /shops/{idOrName}/statuses': { caption: 'hello' },
  'POST /shops/{idOrName}/contacts/consented': { contacts: [{ phone: '+41791234567' }] },
  'POST /messages/{id}/cancel': {},
  'POST /shops/{idOrName}/scheduled': {
    ...{ channel: 'msgapp', to: '+41791234567', text: 'later' },
    sendAt: new Date(Date.now() + 86_400_000).toISOString(),
  },
  'POST /shops/{idOrName}/batches': { name: 'news', text: 'hello', recipients: [{ to: '+41791234567' }] },
  'POST /shops/{idOrName}/queue/cancel': { to: '+41791234567' },
  'DELETE /shops/{idOrName}/contacts/consented': { phone: '+41791234567' },
  'POST /webhooks': WEBHOOK,
  'PATCH /webhooks/{webhookId}': { types: ['message.failed'] },
  'POST /webhooks/{webhookId}/replay': { eventIds: [] },
};

/** The code of what is not there, by the name of its part of a path. */
const MISSING = [
  ['{id}', 'MESSAGE_NOT_FOUND'],
  ['{webhookId}', 'WEBHOOK_NOT_FOUND'],
  ['{idOrName}', 'SHOP_NOT_FOUND'],
] as const;

/** A tenant's connected shop with a paused queue, a message that waits there and a webhook, and a path with their ids. */
async function things({ api, admin, adminToken, tenant, shop, connect }: Target) {
  const owner = await tenant();
  const shopId = await shop(owner);
  await connect(owner.key, shopId);
  // A message in progress cannot be cancelled.
  const paused = await admin.call('POST', `/actors/${owner.id}/${shopId}/pause`, {
    key: adminToken,
    json: {},
  });
  assert.equal(paused.status, 200, paused.text);
  const made = async (path: string, json: object): Promise<string> =>
    (await api.call('POST', path, { key: owner.key, json })).body.data.id;
  const first = { channel: 'msgapp', to: '+41791230000', text: 'first' };
  const messageId = await made(`/shops/${shopId}/messages`, first);
  const webhookId = await made('/webhooks', WEBHOOK);
  const filled = (path: string, asked = shopId): string =>
    path.replace('{idOrName}', asked).replace('{id}', messageId).replace('{webhookId}', webhookId);
  return { owner, filled };
}

/** docs/contract.md, Endpoints; docs/contract.md, Authentication. */
export function accessRows(target: () => Target): void {
  // Calls of a stranger change nothing, so one account is enough.
  let untouched: ReturnType<typeof things> | undefined;
  for (const [method, path, permission, status] of ENDPOINTS) {
    const json = BODIES[`${method} ${path}`];

    test(`${method} ${path} answers ${status} in the envelope, with request id and rate headers`, async () => {
      const { api, shop } = target();
      const { owner, filled } = await things(target());
      // A shop that is linked gets no code.
      const asked = path.endsWith('/pairing-code') ? await shop(owner) : undefined;
      const reply = await api.call(method, filled(path, asked), { key: owner.key, json });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.body.success, true);
      assert.equal(typeof reply.body.data, 'object');
      assert.ok(reply.headers['x-ratelimit-remaining']);
    });

    test(`${method} ${path} without ${permission} is ${permission === 'none' ? 'allowed' : 'FORBIDDEN_PERMISSION'}`, async () => {
      const { api, tenant, key } = target();
      const owner = await tenant();
      const lacking = await key(owner.id, { permissions: permission === 'none' ? [] : allBut(permission) });
      const filled = path.replace(/\{\w+\}/, 'missing');
      // Permission comes before validation and before the shop: neither the body nor the name is looked at.
      const reply = await api.call(method, filled, { key: lacking.key, json: { nonsense: true } });
      assert.equal(reply.status, permission === 'none' ? 200 : 403, reply.text);
      if (permission !== 'none') assert.equal(reply.body.error.code, 'FORBIDDEN_PERMISSION');
      assert.ok(reply.headers['x-ratelimit-remaining'], 'errors carry the rate headers too');
    });

    test(`${method} ${path} without a key is API_KEY_MISSING`, async () => {
      const reply = await target().api.call(method, path.replace(/\{\w+\}/g, 'any'), { json });
      assert.equal(reply.status, 401);
      assert.equal(reply.body.error.code, 'API_KEY_MISSING');
    });

    if (path.includes('{')) {
      test(`${method} ${path} of another tenant is answered as missing`, async () => {
        const { api, tenant } = target();
        untouched ??= things(target());
        const { filled } = await untouched;
        const stranger = await tenant();
        const reply = await api.call(method, filled(path), { key: stranger.key, json });
        assert.equal(reply.status, 404, reply.text);
        assert.equal(reply.body.error.code, MISSING.find(([part]) => path.includes(part))?.[1]);
      });
    }
  }

  test('401 API_KEY_INVALID: a key that was never made, and a text that is no key', async () => {
    const { api } = target();
    for (const key of [`tm_live_${'a'.repeat(43)}`, 'nonsense', 'x'.repeat(3000)]) {
      const reply = await api.call('GET', '/me', { key });
      assert.equal(reply.status, 401);
      assert.equal(reply.body.error.code, 'API_KEY_INVALID');
    }
  });

  test('401 API_KEY_REVOKED: the very next request after revocation', async () => {
    const { api, admin, adminToken, tenant } = target();
    const owner = await tenant();
    assert.equal((await api.call('GET', '/me', { key: owner.key })).status, 200);
    await admin.call('DELETE', `/tenants/${owner.id}/keys/${owner.keyId}`, { key: adminToken });
    const reply = await api.call('GET', '/me', { key: owner.key });
    assert.equal(reply.status, 401);
    assert.equal(reply.body.error.code, 'API_KEY_REVOKED');
  });

  test('rotation: 401 API_KEY_REVOKED for each value the key had, at once; the new one works', async () => {
    const { api, admin, adminToken, tenant } = target();
    const owner = await tenant();
    const path = `/tenants/${owner.id}/keys/${owner.keyId}`;
    const values = [owner.key];
    for (let rotation = 0; rotation < 2; rotation += 1) {
      const rotated = await admin.call('POST', `${path}/rotate`, { key: adminToken });
      assert.equal(rotated.status, 200, rotated.text);
      values.unshift(rotated.body.data.key);
    }
    const codes = async () => {
      const replies = await Promise.all(values.map((key) => api.call('GET', '/me', { key })));
      return replies.map(({ status, body }) => body.error?.code ?? status);
    };
    assert.deepEqual(await codes(), [200, 'API_KEY_REVOKED', 'API_KEY_REVOKED']);
    await admin.call('DELETE', path, { key: adminToken });
    assert.deepEqual(await codes(), ['API_KEY_REVOKED', 'API_KEY_REVOKED', 'API_KEY_REVOKED']);
  });

  test('401 API_KEY_EXPIRED: a key past its expiry', async () => {
    const { api, tenant, key } = target();
    const expired = await key((await tenant()).id, { expiresAt: '2020-01-01T00:00:00Z' });
    const reply = await api.call('GET', '/me', { key: expired.key });
    assert.equal(reply.status, 401);
    assert.equal(reply.body.error.code, 'API_KEY_EXPIRED');
  });

  for (const [ranges, status] of [
    [['127.0.0.1'], 200],
    [['127.0.0.0/8'], 200],
    [['2001:db8::/32', '127.0.0.1'], 200],
    [['203.0.113.0/24'], 403],
    [['2001:db8::1'], 403],
    [['0.0.0.0/0'], 200],
    [['::/0'], 403],
    [['::/0', '127.0.0.1'], 200],
    [['::ffff:127.0.0.1'], 200],
  ] as const) {
    test(`403 IP_NOT_ALLOWED: from loopback with the allowlist ${ranges.join(', ')} answers ${status}`, async () => {
      const { api, tenant, key } = target();
      const listed = await key((await tenant()).id, { ipAllowlist: ranges });
      const reply = await api.call('GET', '/me', { key: listed.key });
      assert.equal(reply.status, status);
      if (status === 403) assert.equal(reply.body.error.code, 'IP_NOT_ALLOWED');
    });
  }

  test('403 TENANT_INACTIVE: from the next request on, and back', async () => {
    const { api, admin, adminToken, tenant } = target();
    const owner = await tenant();
    await admin.call('PATCH', `/tenants/${owner.id}`, { key: adminToken, json: { active: false } });
    const refused = await api.call('GET', '/me', { key: owner.key });
    assert.equal(refused.status, 403);
    assert.equal(refused.body.error.code, 'TENANT_INACTIVE');
    await admin.call('PATCH', `/tenants/${owner.id}`, { key: adminToken, json: { active: true } });
    assert.equal((await api.call('GET', '/me', { key: owner.key })).status, 200);
  });

  test('a field that a change leaves out is kept: a new name keeps the number', async () => {
    const { admin, adminToken, tenant } = target();
    const { id } = await tenant();
    const change = (owner: object | null) =>
      admin.call('PATCH', `/tenants/${id}`, { key: adminToken, json: { owner } });
    await change({ name: 'Ada', notificationNumber: '+41791234567' });
    const renamed = await change({ name: 'Grace' });
    assert.deepEqual(renamed.body.data.owner, { name: 'Grace', notificationNumber: '+41791234567' });
    const without = await change({ name: 'Grace', notificationNumber: null });
    assert.deepEqual(without.body.data.owner, { name: 'Grace', notificationNumber: null });
    assert.equal((await change(null)).body.data.owner, null);
    const named = await change({ name: 'Ada' });
    assert.deepEqual(named.body.data.owner, { name: 'Ada', notificationNumber: null });
  });

  test('x-api-key is an alias, the scheme is case-insensitive, another scheme is no key', async () => {
    const { api, tenant } = target();
    const { key } = await tenant();
    assert.equal((await api.call('GET', '/me', { headers: { 'x-api-key': key } })).status, 200);
    assert.equal((await api.call('GET', '/me', { headers: { authorization: `bearer ${key}` } })).status, 200);
    const basic = await api.call('GET', '/me', { headers: { authorization: `Basic ${key}` } });
    assert.equal(basic.body.error.code, 'API_KEY_MISSING');
    const both = { authorization: 'Basic dXNlcjpwYXNzd29yZA==', 'x-api-key': key };
    assert.equal((await api.call('GET', '/me', { headers: both })).status, 200);
  });

  test('429 RATE_LIMITED: the call over the limit, with Retry-After equal to error.retryAfter', async () => {
    const { api, tenant, key } = target();
    const limited = await key((await tenant()).id, { limits: { minute: 2, hour: 1000, day: 1000 } });
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) {
      const reply = await api.call('GET', '/me', { key: limited.key });
      statuses.push(reply.status);
      assert.equal(reply.headers['x-ratelimit-limit'], '2');
      assert.equal(reply.headers['x-ratelimit-scope'], 'minute');
      assert.equal(reply.headers['x-ratelimit-remaining'], String(Math.max(0, 1 - call)));
      if (reply.status === 429) {
        assert.equal(reply.body.error.code, 'RATE_LIMITED');
        assert.ok(reply.body.error.retryAfter >= 1 && reply.body.error.retryAfter <= 60);
      }
    }
    assert.deepEqual(statuses, [200, 200, 429]);
  });

  test('a refused permission and a failed validation count as calls', async () => {
    const { api, tenant, key } = target();
    const owner = await tenant();
    const limited = await key(owner.id, {
      permissions: ['shops.read'],
      limits: { minute: 2, hour: 9, day: 9 },
    });
    assert.equal((await api.call('POST', '/shops', { key: limited.key, json: { name: 'x' } })).status, 403);
    assert.equal((await api.call('GET', '/shops?page=0', { key: limited.key })).status, 422);
    assert.equal((await api.call('GET', '/shops', { key: limited.key })).status, 429);
  });
}
