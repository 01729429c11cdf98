import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Change } from '../../../http/audit-log/audit-entry.ts';
import { AuditLog } from '../../../http/audit-log/audit-log.ts';
import { OPERATOR_ENDPOINTS } from '../../../http/operator-api/endpoints.ts';
import { systemClock as clock } from '../../../runtime/clock.ts';
import { DAY_MS } from '../../../runtime/durations.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import { systemRandom as random } from '../../../runtime/random.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { erase } from '../operator-api/erase.ts';
import { ADMIN_TOKEN, plainStore, type ServiceFixture, startService, targetOf } from '../service-fixture.ts';
import type { Target } from '../target.ts';

const ADA = 'token-of-ada-the-operator';

describe("the log of operators' changes", () => {
  let service: ServiceFixture;
  let target: Target;
  after(async () => {
    target?.close();
    await service?.stop();
  });
  before(async () => {
    service = await startService({
      settings: {
        operatorTokens: [
          { name: 'admin', role: 'admin', token: ADMIN_TOKEN },
          { name: 'ada', role: 'operate', token: ADA },
        ],
      },
    });
    target = await targetOf(service);
  });

  const operator = (
    method: string,
    path: string,
    call: { key?: string; json?: unknown; headers?: object } = {},
  ) => target.admin.call(method, path, { key: ADMIN_TOKEN, ...(call as { json?: unknown }) });
  const listed = async (query = '') => (await operator('GET', `/audit${query}`)).body.data;

  for (const [index, { method, path }] of OPERATOR_ENDPOINTS.entries()) {
    test(`${method} ${path} is ${method === 'GET' ? 'not ' : ''}written down, unless it names nothing`, async () => {
      const requestId = `${method} ${path}`;
      // Each path has another id, because an id that an erasure named would be a digest.
      const url = path.replaceAll(/\{\w+\}/g, String(index).padStart(24, 'a'));
      const reply = await operator(method, url, { json: {}, headers: { 'x-request-id': requestId } });
      const { items } = await listed('?limit=100');
      const found = items.filter((item: { requestId: string }) => item.requestId === requestId);
      const isWritten = method !== 'GET' && reply.status !== 404;
      assert.equal(found.length, isWritten ? 1 : 0);
      if (!isWritten) return;
      const { at, id, params, ...entry } = found[0];
      assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
      assert.equal(Number.parseInt(id, 10), Date.parse(at));
      for (const value of Object.values(params)) assert.match(String(value), /^[0-9a-f]{24}$/);
      assert.deepEqual(entry, {
        operator: 'admin',
        role: 'admin',
        method,
        route: path,
        ip: '127.0.0.1',
        requestId,
        status: reply.status,
        code: reply.body.error?.code ?? null,
      });
    });
  }

  test('holds nothing of what was sent: no name, number, token or key', async () => {
    const { id } = await target.tenant();
    await operator('POST', `/tenants/${id}/shops`, {
      json: { name: 'Hidden bakery', phone: '+33698765432' },
    });
    const { body } = await operator('POST', `/tenants/${id}/keys`, {
      json: { name: 'Hidden', permissions: [] },
    });
    const { text } = await operator('GET', `/audit?tenant=${id}&limit=100`);
    for (const secret of ['Hidden', '98765432', ADMIN_TOKEN, body.data.key])
      assert.ok(!text.includes(secret));
    assert.match(text, /tenants\/\{tenantId\}\/keys/);
  });

  test('is filtered by operator, tenant, route and status, and read on page by page', async () => {
    const { id } = await target.tenant();
    const path = `/tenants/${id}/resume`;
    for (let call = 0; call < 5; call += 1) await operator('POST', path, { key: ADA, json: {} });
    await operator('POST', path, { key: ADA, json: { nonsense: 1 } });
    const route = encodeURIComponent('/tenants/{tenantId}/resume');
    const first = await listed(`?operator=ada&tenant=${id}&route=${route}&status=200&limit=3`);
    assert.equal(first.items.length, 3);
    const rest = await listed(
      `?operator=ada&tenant=${id}&route=${route}&status=200&limit=3&cursor=${first.nextCursor}`,
    );
    assert.deepEqual([rest.items.length, rest.nextCursor], [2, null]);
    const ids = [...first.items, ...rest.items].map((item: { id: string }) => item.id);
    assert.deepEqual(ids, [...new Set(ids)].toSorted().toReversed());
    assert.deepEqual(
      (await listed(`?operator=ada&tenant=${id}&status=422`)).items[0].code,
      'VALIDATION_ERROR',
    );
    assert.deepEqual(
      (await listed(`?tenant=${id}&after=${new Date(Date.now() + DAY_MS).toISOString()}`)).items,
      [],
    );
    assert.equal((await operator('GET', '/audit?cursor=zz')).status, 422);
  });

  test('each change is in the log of the process as well, with its operator and its outcome', async () => {
    const { id } = await target.tenant();
    service.lines.length = 0;
    await operator('PATCH', `/tenants/${id}`, { json: { name: 'Hidden' } });
    await operator('POST', `/tenants/${id}/resume`, { key: ADA, json: {} });
    await operator('GET', `/tenants/${id}`);
    const changes = service.lines.filter(({ message }) => message === 'change by an operator');
    const told = changes.map(({ fields }) => {
      const { operator: name, role, route, params, status } = fields as Record<string, unknown>;
      return { name, role, route, params, status };
    });
    assert.deepEqual(
      told.map(({ name, route, status }) => [name, route, status]),
      [
        ['admin', '/tenants/{tenantId}', 200],
        ['ada', '/tenants/{tenantId}/resume', 200],
      ],
    );
    assert.deepEqual(told[0]?.params, { tenantId: id });
    assert.ok(!JSON.stringify(changes).includes('Hidden'));
  });

  test('a change that cannot be recorded is not tried', async (context) => {
    const { id } = await target.tenant();
    const away = context.mock.method(service.store, 'append', () => Promise.reject(new Error('away')));
    const refusedReply = await operator('PATCH', `/tenants/${id}`, { json: { name: 'Changed' } });
    away.mock.restore();
    assert.equal(refusedReply.status >= 500, true, refusedReply.text);
    assert.notEqual((await operator('GET', `/tenants/${id}`)).body.data.name, 'Changed');
  });

  test('changes of an erased tenant stay without its name', async () => {
    const { id } = await target.tenant();
    const shop = await operator('POST', `/tenants/${id}/shops`, { json: { name: 'Gone' } });
    await erase(operator, `/tenants/${id}/shops/${shop.body.data.id}`);
    const named = await listed(`?tenant=${id}&limit=100`);
    assert.ok(!JSON.stringify(named).includes(shop.body.data.id));
    await erase(operator, `/tenants/${id}`);
    const { items } = await listed(`?tenant=${id}&limit=100`);
    assert.ok(!JSON.stringify(items).includes(id));
    assert.deepEqual(
      items.slice(0, 1).map(({ method, route }: Record<string, unknown>) => [method, route]),
      [['DELETE', '/tenants/{tenantId}']],
    );
  });
});

describe('the log of changes in Redis', () => {
  const { redis } = sharedRedis();
  const change: Change = {
    operator: 'ada',
    role: 'admin',
    method: 'POST',
    route: '/tenants',
    params: {},
    ip: '::1',
    requestId: 'r',
  };
  const all = {
    operator: undefined,
    tenantId: undefined,
    route: undefined,
    status: undefined,
    afterMs: undefined,
  };
  const open = (maxEntries: number, maxAgeMs = DAY_MS): AuditLog =>
    new AuditLog({ store: plainStore(redis), clock, random, maxAgeMs, maxEntries });
  const held = async (): Promise<number[]> => [
    await redis.zcard('{audit}:order'),
    await redis.hlen('{audit}:entries'),
    await redis.hlen('{audit}:outcomes'),
  ];
  test('a change whose node died has no outcome, on every node', async () => {
    const id = await open(100).begin(change);
    const { items } = await open(100).list({ ...all, limit: 1, cursor: undefined });
    assert.deepEqual([items[0]?.id, items[0]?.status, items[0]?.code], [id, null, null]);
  });

  test('holds no more entries than its bound', async () => {
    await redis.flushall();
    const log = open(50);
    const first = await log.begin(change);
    for (let number = 0; number < 200; number += 1)
      await log.end(await log.begin(change), { status: 200, code: undefined });
    await log.end(first, { status: 200, code: undefined });
    const [order = 0, entries, outcomes] = await held();
    assert.ok(order <= 50 && order > 40, String(order));
    assert.deepEqual([entries, outcomes], [order, order]);
  });

  test('keeps nothing for longer than it may', async () => {
    await redis.flushall();
    const old = await open(50).begin(change);
    await open(50).end(old, { status: 200, code: undefined });
    while (Date.now() <= Number.parseInt(old, 10) + 1) await redis.ping();
    const young = await open(50, 1).begin(change);
    assert.notEqual(young, old);
    assert.equal(await redis.hexists('{audit}:entries', old), 0);
    assert.equal(await redis.hexists('{audit}:outcomes', old), 0);
  });

  test('is written to on a Redis that is full: a change that frees memory is logged too', async () => {
    await redis.config('SET', 'maxmemory', '1');
    const log = open(50);
    await assert.rejects(redis.set('other', 'x'), /OOM/);
    const erased = objectIdGenerator(random)(Date.now());
    const id = await log.begin({ ...change, params: { tenantId: erased } });
    await log.end(id, { status: 200, code: undefined });
    await log.forget(erased);
    const later = await log.begin({ ...change, params: { tenantId: erased } });
    await redis.config('SET', 'maxmemory', '0');
    const stored = await redis.hmget('{audit}:entries', id, later);
    for (const entry of stored) assert.ok(entry?.includes(change.operator) && !entry.includes(erased));
  });
});
