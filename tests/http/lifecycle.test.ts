import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { describe, test } from 'node:test';
import { listRequests } from '../../http/request-log/request-log-reader.ts';
import { freePorts } from '../testbed/free-ports.ts';
import { send } from './openapi/checked-client.ts';
import { ADMIN_TOKEN, startService, targetOf } from './service-fixture.ts';
import { openRaw, statuses } from './socket/raw-connection.ts';

describe('start and stop', () => {
  test('close: every call in progress is answered, no new one is accepted, and no log entry is missing', async () => {
    const service = await startService();
    const target = await targetOf(service);
    const { key } = await target.tenant();
    for (let call = 0; call < 200; call += 1) await target.api.call('GET', '/shops', { key });
    const release = service.calls.hold('createShop');
    const begun = service.calls.begins('createShop');
    const inProgress = target.api.call('POST', '/shops', { key, json: { name: 'last' } });
    await begun;
    const closed = service.close({ graceMs: 10_000 });
    const agent = new Agent();
    await assert.rejects(send(agent, 'GET', `${service.apiUrl}/me`, { key }), { code: 'ECONNREFUSED' });
    release();
    const reply = await inProgress;
    assert.equal(reply.status, 201);
    assert.equal(reply.headers.connection, 'close');
    await closed;
    await service.logs.requestLog.close();
    const counted = { found: 0, cursor: undefined as string | undefined };
    for (;;) {
      const page = await listRequests(service.store, {
        tenantId: undefined,
        status: undefined,
        route: undefined,
        code: undefined,
        mustBeRefused: false,
        afterMs: undefined,
        limit: 100,
        cursor: counted.cursor,
      });
      counted.found += page.items.filter((item) => item.route === '/shops').length;
      if (page.nextCursor === null) break;
      counted.cursor = page.nextCursor;
    }
    assert.equal(counted.found, 201);
    target.close();
    await service.stop();
  });

  test('close does not wait longer than its grace', async () => {
    const service = await startService();
    const target = await targetOf(service);
    const { key } = await target.tenant();
    service.calls.hold('identity');
    const connection = await openRaw(service.apiUrl);
    const begun = service.calls.begins('identity');
    connection.write(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    await begun;
    await service.close({ graceMs: 50 });
    connection.destroy();
    target.close();
    await service.stop();
  });

  test('a port in use stops the start', async () => {
    // Named, not the system's choice: only such a port could be shared.
    const [port = 0] = await freePorts(1);
    const service = await startService({ settings: { port } });
    await assert.rejects(startService({ settings: { port } }), /cannot listen/);
    await service.stop();
  });

  test('readyz returns 503 when the node may not serve', async () => {
    const service = await startService({ health: { isReady: () => false } });
    const agent = new Agent();
    const refusedReply = await send(agent, 'GET', `${service.adminUrl}/readyz`);
    assert.equal(refusedReply.status, 503);
    assert.equal(refusedReply.headers['retry-after'], String(refusedReply.body.error.retryAfter));
    assert.equal((await send(agent, 'GET', `${service.adminUrl}/healthz`)).status, 200);
    agent.destroy();
    await service.stop();
  });

  test('503 OVERLOADED with Retry-After: too many calls in progress; those in progress are answered', async () => {
    const service = await startService({ mostInProgress: 1 });
    const target = await targetOf(service);
    const { key } = await target.tenant();
    const release = service.calls.hold('identity');
    const begun = service.calls.begins('identity');
    const first = target.api.call('GET', '/me', { key });
    await begun;
    const secondReply = await target.api.call('GET', '/me', { key });
    assert.deepEqual([secondReply.status, secondReply.body.error.code], [503, 'OVERLOADED']);
    assert.ok(Number(secondReply.headers['retry-after']) >= 1);
    release();
    assert.equal((await first).status, 200);
    target.close();
    await service.stop();
  });
});

describe('a tenant that uses its share of the slots', () => {
  test('503 OVERLOADED for its next call, while another tenant is answered', async () => {
    const service = await startService({ mostInProgress: 8 });
    const target = await targetOf(service);
    const { key } = await target.tenant();
    const otherTenant = await target.tenant();
    const release = service.calls.hold('identity');
    const waiting: Promise<{ readonly status: number }>[] = [];
    for (let count = 0; count < 2; count += 1) {
      const begun = service.calls.begins('identity');
      waiting.push(target.api.call('GET', '/me', { key }));
      await begun;
    }
    const refusedReply = await target.api.call('GET', '/shops', { key });
    assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [503, 'OVERLOADED']);
    assert.equal((await target.api.call('GET', '/shops', { key: otherTenant.key })).status, 200);
    release();
    assert.deepEqual(
      (await Promise.all(waiting)).map(({ status }) => status),
      [200, 200],
    );
    assert.equal((await target.api.call('GET', '/shops', { key })).status, 200);
    target.close();
    await service.stop();
  });
});

describe('a node whose actors are at their limit', () => {
  test('refuses calls that change something with 503 OVERLOADED, uncounted, and answers reads and operators', async () => {
    let busy = true;
    const service = await startService({ isBusy: () => busy });
    const target = await targetOf(service);
    const tenant = await target.tenant();
    const { key } = await target.key(tenant.id, { limits: { minute: 2, hour: 2, day: 2 } });
    const send = () => target.api.call('POST', '/shops', { key, json: { name: 'Bakery' } });
    for (let count = 0; count < 3; count += 1) {
      const refusedReply = await send();
      assert.deepEqual([refusedReply.status, refusedReply.body.error.code], [503, 'OVERLOADED']);
      assert.ok(Number(refusedReply.headers['retry-after']) >= 1);
      assert.equal(refusedReply.headers['x-ratelimit-remaining'], '2');
    }
    assert.equal((await target.api.call('GET', '/me', { key })).status, 200);
    assert.notEqual((await target.tenant()).id, tenant.id);
    busy = false;
    assert.equal((await send()).status, 201);
    target.close();
    await service.stop();
  });
});

describe('a node whose actors are at their limit, asked with an unknown key', () => {
  test('401 and 403: explains what is wrong with the key', async () => {
    const service = await startService({ isBusy: () => true });
    const target = await targetOf(service);
    const tenant = await target.tenant();
    const post = async (key: string | undefined) =>
      (await target.api.call('POST', '/shops', { key, json: { name: 'Bakery' } })).body.error.code;
    const revoked = await target.key(tenant.id);
    await target.admin.call('DELETE', `/tenants/${tenant.id}/keys/${revoked.id}`, { key: ADMIN_TOKEN });
    assert.equal(await post(revoked.key), 'API_KEY_REVOKED');
    assert.equal(await post(`tm_live_${'x'.repeat(43)}`), 'API_KEY_INVALID');
    assert.equal(await post(undefined), 'API_KEY_MISSING');
    const elsewhere = await target.key(tenant.id, { ipAllowlist: ['203.0.113.7'] });
    assert.equal(await post(elsewhere.key), 'IP_NOT_ALLOWED');
    target.close();
    await service.stop();
  });
});

describe('the address of the caller', () => {
  test('X-Forwarded-For is used only from a configured proxy', async () => {
    for (const [trustedProxies, status] of [
      [['127.0.0.0/8'], 200],
      [[], 403],
    ] as const) {
      const service = await startService({ settings: { trustedProxies } });
      const target = await targetOf(service);
      const { key } = await target.key((await target.tenant()).id, { ipAllowlist: ['203.0.113.7'] });
      const headers = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' };
      assert.equal((await target.api.call('GET', '/me', { key, headers })).status, status);
      target.close();
      await service.stop();
    }
  });
});

describe('the API reference', () => {
  test('is served from our own files under a strict policy, every file it names', async () => {
    const service = await startService();
    const connection = await openRaw(service.apiUrl);
    connection.write('GET /reference HTTP/1.1\r\nHost: x\r\n\r\n');
    const html = await connection.until((text) => text.includes('</html>'));
    assert.deepEqual(statuses(html), [200]);
    assert.match(html, /Content-Security-Policy: default-src 'none'; script-src 'self'/);
    connection.destroy();
    const agent = new Agent();
    const { origin } = new URL(service.apiUrl);
    const named = [...html.matchAll(/<(?:link|script)\b[^>]*?(?:src|href)="([^"]+)"/g)].map(
      ([, path]) => new URL(path ?? '', `${origin}/reference`),
    );
    // An icon of nothing, so that no browser asks for one.
    const files = named.filter(({ href }) => href !== 'data:,');
    assert.equal(files.length, 4);
    for (const path of files) {
      assert.equal(path.origin, origin);
      const file = await send(agent, 'GET', path.href);
      assert.equal(file.status, 200, path.href);
      assert.ok(file.text.length > 50, path.href);
    }
    agent.destroy();
    await service.stop();
  });
});
