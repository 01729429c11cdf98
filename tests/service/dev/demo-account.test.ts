import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { PERMISSIONS } from '../../../actors/permission.ts';
import { type DevStateFile, devStateFile, ensureDemoAccount } from '../../../service/dev/demo-account.ts';

/** An operator API that remembers what it was asked. */
let server: Server;
let adminUrl: string;
let folder: string;
let file: DevStateFile;
let asked: { readonly call: string; readonly body: Record<string, unknown> }[] = [];
let knownTenants = new Set<string>();
let refuse = '';
/** The number of first calls that are answered 503. */
let unavailable = 0;
let revoked = '';

const secrets = { adminToken: 'operators-only', credentialsKey: 'sealed' };

before(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const call = `${request.method} ${request.url}`;
    if (call === 'GET /me') {
      const isTaken = request.headers.authorization !== `Bearer ${revoked}`;
      response.writeHead(isTaken ? 200 : 401).end();
      return;
    }
    if (unavailable > 0) {
      unavailable -= 1;
      response.writeHead(503, { 'retry-after': '0.01' }).end();
      return;
    }
    asked.push({ call, body: text === '' ? {} : JSON.parse(text) });
    const isAllowed = request.headers.authorization === 'Bearer operators-only' && call !== refuse;
    const isKnown =
      request.method === 'POST' || knownTenants.has(String(request.url).slice('/admin/v1/tenants/'.length));
    response.statusCode = isAllowed ? (isKnown ? (request.method === 'POST' ? 201 : 200) : 404) : 500;
    const id = `id-${asked.length}`;
    if (call === 'POST /admin/v1/tenants') knownTenants.add(id);
    response.end(
      JSON.stringify({
        success: isAllowed,
        data: { id, ...(call.endsWith('/keys') ? { key: `tm_live_${asked.length}` } : {}) },
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach((context) => {
  folder = mkdtempSync(join(tmpdir(), 'demo-'));
  (context as { after(run: () => void): void }).after(() => rmSync(folder, { recursive: true }));
  file = devStateFile(folder);
  asked = [];
  knownTenants = new Set();
  refuse = '';
  revoked = '';
});

test('a service that cannot answer yet is asked again', async () => {
  unavailable = 2;
  const account = await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: secrets });
  assert.deepEqual([unavailable, account.tenantId], [0, 'id-1']);
});

test('the first start makes tenant, shop and key, and keeps them for its owner only', async () => {
  const account = await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: secrets });
  assert.deepEqual(account, { tenantId: 'id-1', shopId: 'id-2', apiKey: 'tm_live_3' });
  assert.deepEqual(
    asked.map(({ call }) => call),
    ['POST /admin/v1/tenants', 'POST /admin/v1/tenants/id-1/shops', 'POST /admin/v1/tenants/id-1/keys'],
  );
  assert.equal(asked[0]?.body.plan, 'scale');
  assert.deepEqual(asked[2]?.body.permissions, [...PERMISSIONS]);
  assert.deepEqual(asked[2]?.body.limits, { minute: 6_000, hour: 100_000, day: 1_000_000 });
  assert.deepEqual(file.read(), { ...secrets, ...account });
  assert.equal(statSync(join(folder, 'dev.json')).mode & 0o777, 0o600);
});

test('the next start finds the account and makes nothing', async () => {
  const account = await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: secrets });
  asked = [];
  assert.deepEqual(
    await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: file.read() ?? assert.fail() }),
    account,
  );
  assert.deepEqual(
    asked.map(({ call }) => call),
    ['GET /admin/v1/tenants/id-1'],
  );
});

test('a key that was revoked meanwhile is not shown again: the account gets another', async () => {
  const account = await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: secrets });
  revoked = account.apiKey;
  const secondAccount = await ensureDemoAccount({
    apiUrl: adminUrl,
    adminUrl,
    file,
    state: file.read() ?? assert.fail(),
  });
  assert.deepEqual(secondAccount, { ...account, apiKey: 'tm_live_5' });
  assert.deepEqual(file.read(), { ...secrets, ...secondAccount });
});

test('a start that was cut short continues where it stopped', async () => {
  refuse = 'POST /admin/v1/tenants/id-1/keys';
  await assert.rejects(
    ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: secrets }),
    /POST .*keys was answered 500/,
  );
  refuse = '';
  asked = [];
  await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state: file.read() ?? assert.fail() });
  assert.deepEqual(
    asked.map(({ call }) => call),
    ['GET /admin/v1/tenants/id-1', 'POST /admin/v1/tenants/id-1/keys'],
  );
});

test('an account that the service does not know is made again, with the same secrets', async () => {
  const state = { ...secrets, tenantId: 'gone', shopId: 'gone', apiKey: 'gone' };
  const account = await ensureDemoAccount({ apiUrl: adminUrl, adminUrl, file, state });
  assert.equal(account.tenantId, 'id-2');
  assert.deepEqual(file.read(), { ...secrets, ...account });
});

test('a file that cannot be read is reported, not overwritten', () => {
  assert.equal(file.read(), undefined);
  writeFileSync(join(folder, 'dev.json'), '{"adminToken":');
  assert.throws(() => file.read(), /dev\.json cannot be understood/);
});
