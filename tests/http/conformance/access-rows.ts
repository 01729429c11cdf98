import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Target } from '../target.ts';

/** docs/contract.md, Authentication, and API limits. */
export function accessRows(target: () => Target): void {
  test('401 API_KEY_INVALID: a key that was never made, and a text that is no key', async () => {
    const { api } = target();
    for (const key of [`tm_live_${'a'.repeat(43)}`, 'nonsense', 'x'.repeat(3_000)]) {
      const reply = await api.call('GET', '/me', { key });
      assert.deepEqual([reply.status, reply.body.error.code], [401, 'API_KEY_INVALID']);
    }
  });

  test('401 API_KEY_REVOKED: the very next request after revocation', async () => {
    const { api, admin, adminToken, tenant } = target();
    const owner = await tenant();
    assert.equal((await api.call('GET', '/me', { key: owner.key })).status, 200);
    await admin.call('DELETE', `/tenants/${owner.id}/keys/${owner.keyId}`, { key: adminToken });
    const reply = await api.call('GET', '/me', { key: owner.key });
    assert.deepEqual([reply.status, reply.body.error.code], [401, 'API_KEY_REVOKED']);
  });

  test('rotation: 401 API_KEY_REVOKED for each value the key had, at once; the new one works', async () => {
    const { api, admin, adminToken, tenant } = target();
    const owner = await tenant();
    const path = `/tenants/${owner.id}/keys/${owner.keyId}`;
    const values = [owner.key];
    for (let rotation = 0; rotation < 2; rotation += 1) {
      const rotatedReply = await admin.call('POST', `${path}/rotate`, { key: adminToken });
      assert.equal(rotatedReply.status, 200, rotatedReply.text);
      values.unshift(rotatedReply.body.data.key);
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
    assert.deepEqual([reply.status, reply.body.error.code], [401, 'API_KEY_EXPIRED']);
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
    const refusedReply = await api.call('GET', '/me', { key: owner.key });
    assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [403, 'TENANT_INACTIVE']);
    await admin.call('PATCH', `/tenants/${owner.id}`, { key: adminToken, json: { active: true } });
    assert.equal((await api.call('GET', '/me', { key: owner.key })).status, 200);
  });

  test('a field that a change leaves out is kept: a name keeps the number, a number the name', async () => {
    const { admin, adminToken, tenant } = target();
    const { id } = await tenant();
    const change = (owner: object | null) =>
      admin.call('PATCH', `/tenants/${id}`, { key: adminToken, json: { owner } });
    await change({ name: 'Ada', notificationNumber: '+41791234567' });
    const renamed = await change({ name: 'Grace' });
    assert.deepEqual(renamed.body.data.owner, { name: 'Grace', notificationNumber: '+41791234567' });
    const movedReply = await change({ notificationNumber: '+41791234568' });
    assert.deepEqual(movedReply.body.data.owner, { name: 'Grace', notificationNumber: '+41791234568' });
    const replyWithout = await change({ name: 'Grace', notificationNumber: null });
    assert.deepEqual(replyWithout.body.data.owner, { name: 'Grace', notificationNumber: null });
    const unchanged = await change({});
    assert.deepEqual(unchanged.body.error?.fields, [
      { field: 'owner', message: 'must have name or notificationNumber' },
    ]);
    assert.equal((await change(null)).body.data.owner, null);
    const nameless = await change({ notificationNumber: '+41791234567' });
    assert.deepEqual(nameless.body.error?.fields, [
      { field: 'owner.name', message: 'is required, because the tenant has no owner' },
    ]);
    const namedReply = await change({ name: 'Ada' });
    assert.deepEqual(namedReply.body.data.owner, { name: 'Ada', notificationNumber: null });
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
    const limited = await key((await tenant()).id, { limits: { minute: 2, hour: 1_000, day: 1_000 } });
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
