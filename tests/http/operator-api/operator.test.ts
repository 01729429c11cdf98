import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { after, describe, test } from 'node:test';
import { send } from '../openapi/checked-client.ts';
import { ADMIN_TOKEN } from '../service-fixture.ts';
import { sharedService } from '../shared-service.ts';
import { erase } from './erase.ts';

describe("the operators' listener", () => {
  after(() => agent.destroy());
  const { service, target } = sharedService();
  const agent = new Agent({ keepAlive: true });

  const operator = (method: string, path: string, json?: unknown) =>
    target.admin.call(method, path, { key: ADMIN_TOKEN, json });
  const page = (path: string, key?: string) => send(agent, 'GET', service.adminUrl + path, { key });

  test('every route asks for the token; a wrong one and a tenant key are refused', async () => {
    const { key } = await target.tenant();
    for (const [path, methods] of Object.entries(target.admin.document.paths)) {
      for (const method of Object.keys(methods)) {
        const url = path.replaceAll(/\{\w+\}/g, 'a'.repeat(24));
        const emptyReply = await target.admin.call(method.toUpperCase(), url);
        assert.equal(emptyReply.body.error.code, 'API_KEY_MISSING', `${method} ${path}`);
        const wrong = await target.admin.call(method.toUpperCase(), url, { key });
        assert.equal(wrong.body.error.code, 'API_KEY_INVALID', `${method} ${path}`);
      }
    }
    for (const path of ['/metrics', '/admin/v1/events', '/admin/v1/openapi.json']) {
      assert.equal((await page(path)).status, 401);
      assert.equal((await page(path, 'wrong')).status, 401);
    }
  });

  test('tenants: created 201, read, listed newest first, changed, erased', async () => {
    const owner = { name: 'Ada', notificationNumber: '+41790000000' };
    const createdReply = await operator('POST', '/tenants', { name: 'Rue Haute', plan: 'starter', owner });
    assert.equal(createdReply.status, 201);
    const { id } = createdReply.body.data;
    assert.equal((await operator('GET', `/tenants/${id}`)).body.data.plan, 'starter');
    assert.equal((await operator('GET', '/tenants?limit=1')).body.data.items[0].id, id);
    const changedReply = await operator('PATCH', `/tenants/${id}`, {
      name: 'Rue Basse',
      poolFallback: true,
      owner: null,
    });
    assert.deepEqual(
      [changedReply.body.data.name, changedReply.body.data.poolFallback, changedReply.body.data.owner],
      ['Rue Basse', true, null],
    );
    await erase(operator, `/tenants/${id}`);
    assert.equal((await operator('GET', `/tenants/${id}`)).status, 404);
  });

  test('the Location of a creation is the path that reads it', async () => {
    const { id } = await target.tenant();
    const madeReplies = [
      await operator('POST', '/tenants', { name: 'Somewhere' }),
      await operator('POST', `/tenants/${id}/shops`, { name: 'Here' }),
      await operator('POST', `/tenants/${id}/keys`, { name: 'one', permissions: [] }),
    ];
    for (const { status, headers, body } of madeReplies) {
      assert.equal(status, 201);
      const foundReply = await page(headers.location ?? '', ADMIN_TOKEN);
      assert.equal(foundReply.status, 200, headers.location);
      assert.ok(foundReply.text.includes(body.data.id), headers.location);
    }
  });

  test('a shop’s messages: their outcomes, and nothing of their texts', async () => {
    const tenant = await target.tenant();
    const { key } = tenant;
    const shop = await target.shop(tenant);
    const channel = `/shops/${shop}/channels/msgapp/connect`;
    await target.api.call('POST', channel, { key });
    await target.api.call('GET', channel, { key });
    const json = {
      channel: 'msgapp',
      to: '+41797654321',
      text: 'for nobody else',
      mediaUrl: 'https://example.com/private.jpg',
      idempotencyKey: 'own-key',
    };
    assert.equal((await target.api.call('POST', `/shops/${shop}/messages`, { key, json })).status, 202);
    const listedReply = await operator('GET', `/actors/${tenant.id}/${shop}/messages`);
    assert.deepEqual(
      [listedReply.body.data.items.length, listedReply.body.data.items[0].to],
      [1, '+41797654321'],
    );
    assert.doesNotMatch(listedReply.text, /nobody else|private|own-key/);
    const { deliveredAt, readAt } = listedReply.body.data.items[0];
    assert.deepEqual([deliveredAt, readAt], [null, null]);
  });

  test('every id of a path is taken in either case', async () => {
    const tenant = await target.tenant();
    const shop = await target.shop(tenant);
    const path = `/actors/${tenant.id}/${shop}`.toUpperCase().replace('/ACTORS', '/actors');
    assert.equal((await operator('GET', path)).status, 200);
  });

  test('tenants: invalid fields are named, also settings outside their range', async () => {
    const invalid = await operator('POST', '/tenants', { plan: 'gold', owner: { name: '' }, extra: 1 });
    const fields = invalid.body.error.fields.map(({ field }: { field: string }) => field);
    assert.deepEqual(fields.toSorted(), ['extra', 'name', 'owner.name', 'plan']);
    const { id } = await target.tenant();
    const outside = await operator('PATCH', `/tenants/${id}`, { settings: { coldPerDay: 51 } });
    assert.deepEqual([outside.status, outside.body.error.code], [422, 'VALIDATION_ERROR']);
  });

  for (const [names, message] of [
    [['A\u0000', 'A\nB', '\u0007', '\u0000'], 'must be one line without control characters'],
    [[' ', '\u200b\u00a0', '\u2060', '\ufeff'], 'must have a visible character'],
  ] as const) {
    test(`every name that operators give ${message}`, async () => {
      const { id } = await target.tenant();
      const [tenant, renamed, owner, key] = names;
      for (const [field, method, path, json] of [
        ['name', 'POST', '/tenants', { name: tenant }],
        ['name', 'PATCH', `/tenants/${id}`, { name: renamed }],
        ['owner.name', 'PATCH', `/tenants/${id}`, { owner: { name: owner } }],
        ['name', 'POST', `/tenants/${id}/keys`, { name: key, permissions: [] }],
      ] as const)
        assert.deepEqual((await operator(method, path, json)).body.error?.fields, [{ field, message }], path);
    });
  }

  test('an empty name has one problem', async () => {
    const { body } = await operator('POST', '/tenants', { name: '' });
    assert.deepEqual(body.error.fields, [{ field: 'name', message: 'must have 1 to 200 characters' }]);
  });

  test('the id of a tenant in a query is taken in either case', async () => {
    const { id } = await target.tenant();
    for (const list of ['/requests', '/refusals', '/audit'])
      assert.equal((await operator('GET', `${list}?tenant=${id.toUpperCase()}`)).status, 200, list);
  });

  test('dead letters: a cursor that is none of theirs is refused, not taken for the end', async () => {
    assert.equal((await operator('GET', '/dead-letters?cursor=zz')).status, 422);
  });

  test('keys: the value is shown once, listed without it; limits and allowlists are checked', async () => {
    const { id } = await target.tenant();
    const draft = {
      name: 'k',
      permissions: ['shops.read'],
      limits: { minute: 5 },
      ipAllowlist: ['10.0.0.0/8', '::1'],
    };
    const createdReply = await operator('POST', `/tenants/${id}/keys`, draft);
    assert.equal(createdReply.status, 201);
    assert.match(createdReply.body.data.key, /^tm_live_/);
    assert.deepEqual(createdReply.body.data.limits, { minute: 5, hour: 1_000, day: 10_000 });
    const listedReply = await operator('GET', `/tenants/${id}/keys`);
    assert.ok(!listedReply.text.includes(createdReply.body.data.key));
    for (const [bad, field] of [
      [{ ...draft, limits: { minute: 0 } }, 'limits.minute'],
      [{ ...draft, limits: { day: 100_000_001 } }, 'limits.day'],
      [{ ...draft, ipAllowlist: ['10.0.0.0/33'] }, 'ipAllowlist.0'],
      [{ ...draft, ipAllowlist: ['10.1'] }, 'ipAllowlist.0'],
      [{ ...draft, ipAllowlist: ['10.1/16'] }, 'ipAllowlist.0'],
      [{ ...draft, ipAllowlist: ['010.0.0.0/8'] }, 'ipAllowlist.0'],
      [{ ...draft, ipAllowlist: ['fe80::1%eth0/64'] }, 'ipAllowlist.0'],
      [{ ...draft, permissions: ['all'] }, 'permissions.0'],
      [{ ...draft, expiresAt: 'never' }, 'expiresAt'],
    ] as const) {
      const refusedReply = await operator('POST', `/tenants/${id}/keys`, bad);
      assert.equal(refusedReply.status, 422, refusedReply.text);
      assert.equal(refusedReply.body.error.fields[0].field, field);
    }
  });

  test('shops of one name can be imported, customers added; a missing tenant is NOT_FOUND', async () => {
    const { id } = await target.tenant();
    for (const _ of [1, 2])
      assert.equal((await operator('POST', `/tenants/${id}/shops`, { name: 'Twin' })).status, 201);
    const added = await operator('POST', `/tenants/${id}/customers`, { phones: ['+41791234567'] });
    assert.deepEqual(added.body.data, { added: 1 });
    for (const missing of ['b'.repeat(24), 'nonsense'])
      assert.equal((await operator('POST', `/tenants/${missing}/shops`, { name: 'x' })).status, 404);
  });

  test('GET /requests: one entry a request, with key and template, never a body, query value or key', async () => {
    const tenant = await target.tenant();
    const { key } = tenant;
    const quoted = '"one" \\ two';
    await target.api.call('GET', '/shops?limit=HiddenValue', { key, headers: { 'x-request-id': quoted } });
    await target.api.call('POST', '/shops', { key, json: { name: 'Hidden name' } });
    await target.api.call('GET', '/shops/Secret%20shop', { key });
    const lostId = `/lost/${tenant.id}`;
    await target.api.call('GET', lostId, { key });
    const listed = await eventually(
      async () => (await operator('GET', `/requests?tenant=${tenant.id}`)).body.data.items,
      3,
    );
    const routes = listed.map((item) => `${item.method} ${item.route} ${item.status}`);
    assert.deepEqual(routes, ['GET /shops/{idOrName} 404', 'POST /shops 201', 'GET /shops 422']);
    assert.deepEqual(
      [listed[2]?.requestId, listed[2]?.keyId, listed[2]?.ip],
      [quoted, tenant.keyId, '127.0.0.1'],
    );
    const [unmatched] = await eventually(
      async () => (await operator('GET', '/requests?route=unmatched&status=404&limit=1')).body.data.items,
      1,
    );
    assert.equal(unmatched?.tenantId, null);
    const everything = (await operator('GET', '/requests?limit=100')).text + JSON.stringify(service.lines);
    for (const secret of [key, 'Hidden name', 'Secret', 'HiddenValue', lostId])
      assert.ok(!everything.includes(secret), secret);
  });

  test('logs one line per request, at level debug', async () => {
    const told = (): number =>
      service.lines.filter(({ level, message }) => level === 'debug' && message === 'request').length;
    const before = told();
    for (let call = 0; call < 5; call += 1) await target.api.call('GET', '/nothing');
    assert.equal(told(), before + 5);
  });

  test('/metrics counts requests by route and status, with latencies', async () => {
    await target.api.call('GET', '/nothing');
    const { text } = await page('/metrics', ADMIN_TOKEN);
    assert.match(text, /^msgapi_http_requests_total\{method="GET",route="unmatched",status="404"\} \d+$/m);
    assert.match(
      text,
      /^msgapi_http_request_duration_seconds_bucket\{.*route="unmatched".*le="\+Inf"\} \d+$/m,
    );
    assert.match(text, /^# TYPE msgapi_http_requests_total counter$/m);
    assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  });

  test('/healthz and /readyz need no token, and what is asked so often leaves no line', async () => {
    const told = (): number => service.lines.filter(({ message }) => message === 'operator request').length;
    const before = told();
    assert.equal((await page('/healthz')).body.data.status, 'alive');
    assert.equal((await page('/readyz')).body.data.status, 'ready');
    assert.equal((await page('/metrics', ADMIN_TOKEN)).status, 200);
    assert.equal(told(), before);
    assert.equal((await page('/metrics')).status, 401);
    assert.equal(told(), before + 1);
  });

  test('GET /events: live, numbered, and caught up on after a lost connection', async () => {
    const first = await events();
    service.emit({ type: 'shop', at: new Date().toISOString(), data: { tenantId: 't', shopId: 's1' } });
    const seen = await first.until(/"shopId":"s1"/);
    const id = [...seen.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';
    first.close();
    service.emit({ type: 'shop', at: new Date().toISOString(), data: { tenantId: 't', shopId: 's2' } });
    const again = await events(id);
    const caughtUp = await again.until(/"shopId":"s2"/);
    assert.ok(!caughtUp.includes('"shopId":"s1"'));
    again.close();
  });

  test('GET /events takes no query, like every call without parameters', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const request = get(`${service.adminUrl}/admin/v1/events?nope=1`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    after(() => request.destroy());
    assert.equal(response.statusCode, 422);
    const { error } = JSON.parse(String(Buffer.concat(await response.toArray())));
    assert.equal(error.fields[0].field, 'nope');
  });

  test('GET /actors takes the states of the console, and no unknown one', async () => {
    const asked = (state: string) => page(`/admin/v1/actors?state=${state}`, ADMIN_TOKEN);
    for (const state of ['connected', 'gap', 'suspended', 'tenant_inactive', 'unconfigured', 'held'])
      assert.equal((await asked(state)).status, 200, state);
    const { status, body } = await asked('nope');
    assert.deepEqual([status, body.error.fields[0].field], [422, 'state']);
  });

  async function events(lastEventId?: string) {
    const headers = {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    const request = get(`${service.adminUrl}/admin/v1/events`, { headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    assert.equal(response.headers['content-type'], 'text/event-stream');
    let text = '';
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    return {
      async until(pattern: RegExp) {
        while (!pattern.test(text)) text += ((await once(response, 'data')) as [string])[0];
        return text;
      },
      close: () => request.destroy(),
    };
  }

  interface Listed {
    readonly tenantId: string | null;
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly requestId: string;
    readonly keyId: string;
    readonly ip: string;
  }

  /** The log is written at the end of the tick, so a reader may have to ask twice. */
  async function eventually(ask: () => Promise<Listed[]>, count: number): Promise<Listed[]> {
    for (;;) {
      const items = await ask();
      if (items.length >= count) return items;
    }
  }
});
