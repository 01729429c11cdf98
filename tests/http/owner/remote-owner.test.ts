import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Permission } from '../../../actors/permission.ts';
import type { TenantOperations } from '../../../actors/tenants/tenant-operations.ts';
import type { AnsweredRequest } from '../../../http/contract/answered-request.ts';
import { decodeForwarded } from '../../../http/owner/forwarded-form.ts';
import type { Forwarder } from '../../../http/owner/forwarder.ts';
import type { TenantRequest } from '../../../http/owner/serve-as-owner.ts';
import { hashOfKey } from '../../../http/pipeline/presented-key.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { RuntimeFailure } from '../../../runtime/runtime-failure.ts';
import { metricsOf } from '../metrics/metrics-of.ts';
import {
  ADMIN_TOKEN,
  localForwarder,
  type ServiceFixture,
  startService,
  targetOf,
} from '../service-fixture.ts';
import type { Target, TestTenant } from '../target.ts';
import { hurriedClock } from './hurried-clock.ts';

/** Returns the owner, which changes after so many reads. */
function moving({ everyLooks }: { readonly everyLooks: number }): () => string {
  let looks = 0;
  return () => {
    looks += 1;
    return `owner ${Math.floor(looks / everyLooks)}`;
  };
}

/** An edge that owns nothing beside an owner that has it all. The edge's own actors have no tenant. */
describe('a request taken by one node and answered by another', () => {
  let owner: ServiceFixture;
  let edge: ServiceFixture;
  let target: Target;
  let tenant: TestTenant;
  let forward: Forwarder['forward'];
  let isStillOwner = true;
  /** Tenants of keys that the edge alone knows. */
  const remembered = new Map<string, string>();
  /** True if the edge believes that the tenant is its own. */
  let isLocal = false;
  /** The answer of the edge, which believes in its own ownership. */
  let admitAtEdge: TenantOperations['admit'];
  /** Returns the owner of the tenant in the view of the edge, at each read. */
  let ownership = (): string => 'owner 1';

  before(async () => {
    owner = await startService({ forwarder: { ...localForwarder, ownerIsLocal: () => isStillOwner } });
    edge = await startService({
      clock: hurriedClock(),
      tenants: { admit: (...call) => admitAtEdge(...call) } as TenantOperations,
      keys: { tenantOfKey: (hash) => remembered.get(hash) ?? owner.actors.keys.tenantOfKey(hash) },
      forwarder: {
        ...localForwarder,
        ownerIsLocal: () => isLocal,
        ownership: () => ownership(),
        forward: (tenantId, payload, timeoutMs) => forward(tenantId, payload, timeoutMs),
      },
    });
    forward = (_, payload) => owner.serveForwarded(payload);
    target = await targetOf(edge);
    tenant = await target.tenant();
  });
  after(async () => {
    target.close();
    await edge.stop();
    await owner.stop();
  });
  beforeEach(() => {
    isStillOwner = true;
    isLocal = false;
    ownership = () => 'owner 1';
    forward = (_, payload) => owner.serveForwarded(payload);
  });

  test('reads, writes and operators alike reach the owner; the edge keeps nothing', async () => {
    const { key } = tenant;
    assert.equal(
      (await target.api.call('POST', '/shops', { key, json: { name: 'Süß & Söhne' } })).status,
      201,
    );
    const foundReply = await target.api.call('GET', `/shops/${encodeURIComponent('süß & söhne')}`, { key });
    assert.equal(foundReply.status, 200);
    assert.ok(foundReply.headers['x-ratelimit-remaining']);
    const resumedReply = await target.admin.call('POST', `/tenants/${tenant.id}/resume`, {
      key: ADMIN_TOKEN,
    });
    assert.equal(resumedReply.status, 200);
    const known = [edge, owner].map(({ actors }) => actors.operators.tenant(tenant.id));
    assert.deepEqual(
      (await Promise.all(known)).map(({ ok }) => ok),
      [false, true],
    );
  });

  test('the owner learns the id and the trace of the request, and both nodes log them', async () => {
    const { key } = await target.tenant();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const createdReply = await target.api.call('POST', '/shops', { key, json: { name: 'Traced' } });
    const shop = `/shops/${createdReply.body.data.id}`;
    await target.api.call('POST', `${shop}/channels/msgapp/connect`, { key });
    await target.api.call('GET', `${shop}/channels/msgapp/connect`, { key });
    edge.lines.length = 0;
    const json = { channel: 'msgapp', to: '+41791234567', text: 'hello' };
    const sentReply = await target.api.call('POST', `${shop}/messages`, {
      key,
      json,
      headers: { traceparent },
    });
    const read = await target.api.call('GET', `/messages/${sentReply.body.data.id}`, { key });
    assert.equal(read.body.data.traceparent, traceparent);
    assert.equal(read.body.data.requestId, sentReply.headers['x-request-id']);
    const logged = edge.lines.map(({ fields }) => (fields as AnsweredRequest).traceparent);
    assert.deepEqual(logged, [traceparent, undefined]);
  });

  test('the owner refuses as it would a direct request', async () => {
    const { key } = tenant;
    const invalid = await target.api.call('POST', '/shops?x=1', { key, json: { bad: 1 } });
    assert.deepEqual(invalid.body.error.fields.length, 3);
    const unread = await target.api.call('POST', '/shops', {
      key,
      body: Buffer.from([0xff]),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(unread.body.error.fields[0].message, 'must be UTF-8, and not compressed');
    const revoked = await target.key(tenant.id);
    await target.admin.call('DELETE', `/tenants/${tenant.id}/keys/${revoked.id}`, { key: ADMIN_TOKEN });
    assert.equal(
      (await target.api.call('GET', '/me', { key: revoked.key })).body.error.code,
      'API_KEY_REVOKED',
    );
  });

  test('a caller that goes away while its call waits at the owner frees its slot there at once', async () => {
    const { key } = tenant;
    const untilCount = async (count: number): Promise<void> => {
      const startedMs = performance.now();
      while (owner.eventWaiters.count !== count && performance.now() - startedMs < 10_000) await nextTurn();
      assert.equal(owner.eventWaiters.count, count);
    };
    const timeouts: number[] = [];
    forward = (_, payload, timeoutMs) => {
      timeouts.push(timeoutMs);
      return owner.serveForwarded(payload);
    };
    for (const accept of ['application/json', 'text/event-stream']) {
      const end = new AbortController();
      const answer = fetch(`${edge.apiUrl}/events?waitMs=29000`, {
        headers: { authorization: `Bearer ${key}`, accept },
        signal: end.signal,
      });
      await untilCount(1);
      end.abort();
      await answer.catch(() => undefined);
      await untilCount(0);
    }
    const [poll = 0] = timeouts;
    assert.ok(poll > 26_000 && poll <= 27_000, `${poll} ms`);
    assert.ok(
      timeouts.slice(1).every((ms) => ms <= 17_000),
      `${timeouts}`,
    );
  });

  test('a call that waits at the owner counts as in progress at neither node', async () => {
    const narrow = await startService({
      mostInProgress: 1,
      keys: owner.actors.keys,
      forwarder: {
        ...localForwarder,
        ownerIsLocal: () => false,
        forward: (_, payload) => owner.serveForwarded(payload),
      },
    });
    const otherTarget = await targetOf(narrow);
    const waitingPromise = otherTarget.api.call('GET', '/events?waitMs=9000', { key: tenant.key });
    while (owner.eventWaiters.count === 0) await nextTurn();
    assert.equal((await otherTarget.api.call('GET', '/shops', { key: tenant.key })).status, 200);
    owner.eventWaiters.end(tenant.id);
    assert.equal((await waitingPromise).status, 200);
    assert.equal((await otherTarget.api.call('GET', '/shops', { key: tenant.key })).status, 200);
    otherTarget.close();
    await narrow.stop();
  });

  test('a call that waits while its tenant moves is answered by the next owner at once', async () => {
    const { key } = tenant;
    isLocal = true;
    const caller = {
      tenantId: tenant.id,
      keyId: tenant.keyId,
      permissions: new Set<Permission>(['messages.read']),
    };
    const rate = { scope: 'minute', limit: 60, remaining: 59, resetAtSeconds: 0, isAdmitted: true } as const;
    admitAtEdge = () => ({ isAdmitted: true, caller, rate });
    const start = '0'.repeat(24);
    const waitingPromise = target.api.call('GET', `/events?waitMs=29000&cursor=${start}&limit=7`, { key });
    // Its slot is taken before its first read. It waits once only the question itself is in flight.
    const inProgress = async (): Promise<string | undefined> =>
      /^msgapi_http_requests_in_hand (.+)$/m.exec(await metricsOf(edge))?.[1];
    const startedMs = performance.now();
    while ((await inProgress()) !== '1' || edge.eventWaiters.count === 0)
      assert.ok(performance.now() - startedMs < 10_000);
    const askedRequests: TenantRequest[] = [];
    forward = (_, payload) => {
      const nodeRequest = decodeForwarded(payload);
      if (nodeRequest.kind === 'api') askedRequests.push(nodeRequest.request);
      return owner.serveForwarded(payload);
    };
    isLocal = false;
    edge.eventWaiters.end(tenant.id);
    const { status, body } = await waitingPromise;
    assert.deepEqual([status, body.data], [200, { items: [], nextCursor: start }]);
    const [request] = askedRequests;
    const query = Object.fromEntries(new URLSearchParams(request?.query));
    assert.deepEqual(query, { limit: '7', cursor: start, waitMs: '0' });
    assert.deepEqual([request?.isContinued, request?.wait, edge.eventWaiters.count], [true, undefined, 0]);
  });

  test('a call that would wait at an owner whose lease is gone takes no slot there', async () => {
    isStillOwner = false;
    const refusedReply = await target.api.call('GET', '/events?waitMs=29000', { key: tenant.key });
    assert.deepEqual([refusedReply.status, owner.eventWaiters.count], [503, 0]);
  });

  test('a key that the owner does not know is unknown, though this node remembers its tenant', async () => {
    const key = `tm_live_${'r'.repeat(43)}`;
    remembered.set(hashOfKey(key) ?? '', tenant.id);
    edge.lines.length = 0;
    const reply = await target.api.call('GET', '/me', { key });
    assert.equal(reply.body.error.code, 'API_KEY_INVALID');
    assert.deepEqual(
      edge.lines.map(({ fields }) => (fields as AnsweredRequest).tenantId),
      [undefined],
    );
  });

  test('an owner whose lease ended before its reply answers 503 SERVICE_UNAVAILABLE', async () => {
    isStillOwner = false;
    const reply = await target.api.call('GET', '/me', { key: tenant.key });
    assert.deepEqual([reply.status, reply.body.error.code], [503, 'SERVICE_UNAVAILABLE']);
    assert.ok(Number(reply.headers['retry-after']) >= 1);
    const operator = await target.admin.call('GET', `/tenants/${tenant.id}`, { key: ADMIN_TOKEN });
    assert.equal(operator.body.error.code, 'SERVICE_UNAVAILABLE');
  });

  for (const [code, status, shown] of [
    ['SHARD_NOT_OWNED', 503, 'SERVICE_UNAVAILABLE'],
    ['DEADLINE_EXCEEDED', 503, 'SERVICE_UNAVAILABLE'],
    ['STORE_UNAVAILABLE', 503, 'SERVICE_UNAVAILABLE'],
    ['OUTCOME_UNKNOWN', 503, 'SERVICE_UNAVAILABLE'],
    ['STOPPING', 503, 'SERVICE_UNAVAILABLE'],
    ['MAILBOX_FULL', 503, 'OVERLOADED'],
    ['NODE_BUSY', 503, 'OVERLOADED'],
    ['SUSPENDED', 503, 'BOT_SERVICE_UNREACHABLE'],
    ['POISONED', 500, 'INTERNAL_ERROR'],
  ] as const) {
    test(`${code}, on the way or at the owner, is ${status} ${shown}`, async () => {
      owner.calls.fail('identity', new RuntimeFailure(code, 'secret detail', 7));
      const atOwner = await target.api.call('GET', '/me', { key: tenant.key });
      forward = () => Promise.reject(new RuntimeFailure(code, 'secret detail', 7));
      const onTheWay = await target.api.call('GET', '/me', { key: tenant.key });
      for (const reply of [atOwner, onTheWay]) {
        assert.equal(reply.status, status);
        assert.equal(reply.body.error.code, shown);
        assert.equal(reply.headers['retry-after'], status === 503 ? '7' : undefined);
        assert.doesNotMatch(reply.text, /secret/);
      }
    });
  }

  for (const place of ['on the way', 'at the owner'] as const) {
    for (const code of ['SHARD_NOT_OWNED', 'STOPPING'] as const) {
      test(`${code} ${place}, then another owner: the caller gets its answer and notices nothing`, async () => {
        ownership = moving({ everyLooks: 5 });
        const waits: number[] = [];
        forward = (_, payload, timeoutMs) => {
          waits.push(timeoutMs);
          if (waits.length > 1) return owner.serveForwarded(payload);
          if (place === 'on the way') return Promise.reject(new RuntimeFailure(code, 'gone'));
          owner.calls.fail('createShop', new RuntimeFailure(code, 'gone'));
          return owner.serveForwarded(payload);
        };
        const name = `Moved ${place} ${code}`;
        const reply = await target.api.call('POST', '/shops', { key: tenant.key, json: { name } });
        assert.equal(reply.status, 201);
        const [first = 0, second = 0, ...more] = waits;
        assert.ok(second < first, `${second} ms after ${first} ms`);
        assert.deepEqual(more, []);
      });
    }

    for (const code of ['OUTCOME_UNKNOWN', 'DEADLINE_EXCEEDED', 'POISONED', 'STORE_UNAVAILABLE'] as const) {
      test(`${code} ${place} is not asked again, whichever node owns the tenant then`, async () => {
        ownership = moving({ everyLooks: 1 });
        let asked = 0;
        forward = (_, payload) => {
          asked += 1;
          if (place === 'on the way') return Promise.reject(new RuntimeFailure(code, 'who knows'));
          owner.calls.fail('createShop', new RuntimeFailure(code, 'who knows'));
          return owner.serveForwarded(payload);
        };
        const reply = await target.api.call('POST', '/shops', { key: tenant.key, json: { name: 'Once' } });
        assert.ok(reply.status >= 500);
        assert.equal(asked, 1);
      });
    }
  }

  for (const [moment, found] of [
    ['still', 'later'],
    ['no longer', 'later'],
    ['no longer', 'at once'],
  ] as const) {
    test(`a node that notices ${found} that its tenant has moved, and is ${moment} named its owner, forwards the request`, async () => {
      isLocal = true;
      ownership = () => 'edge 1';
      const leave = (): void => {
        isLocal = false;
        ownership = () => 'owner 2';
      };
      admitAtEdge = () => {
        if (moment === 'still') systemClock.after(5, leave);
        else leave();
        const draining = new RuntimeFailure('SHARD_NOT_OWNED', 'draining');
        if (found === 'at once') throw draining;
        return Promise.reject(draining);
      };
      assert.equal((await target.api.call('GET', '/me', { key: tenant.key })).status, 200);
    });
  }

  test('an operator’s request follows its tenant to the next owner, and takes effect once', async () => {
    ownership = moving({ everyLooks: 5 });
    for (const place of ['on the way', 'at the owner'] as const) {
      let asked = 0;
      forward = (_, payload) => {
        asked += 1;
        const removedFailure = new RuntimeFailure('SHARD_NOT_OWNED', 'gone');
        if (asked > 1) return owner.serveForwarded(payload);
        if (place === 'on the way') return Promise.reject(removedFailure);
        owner.calls.fail('importShop', removedFailure);
        return owner.serveForwarded(payload);
      };
      const name = `Imported, moved ${place}`;
      const path = `/tenants/${tenant.id}/shops`;
      const createdReply = await target.admin.call('POST', path, { key: ADMIN_TOKEN, json: { name } });
      assert.deepEqual([createdReply.status, asked], [201, 2]);
    }
  });

  test('an erasure that broke off as its tenant moved is not repeated at the next owner', async () => {
    ownership = moving({ everyLooks: 1 });
    let asked = 0;
    forward = (_, payload) => {
      asked += 1;
      if (asked === 1) owner.calls.fail('deleteTenant', new RuntimeFailure('SHARD_NOT_OWNED', 'gone'));
      return owner.serveForwarded(payload);
    };
    const refusedReply = await target.admin.call('DELETE', `/tenants/${tenant.id}`, { key: ADMIN_TOKEN });
    assert.deepEqual([refusedReply.status, asked], [503, 1]);
  });

  test('a reply that is not shown because the lease has ended is not asked for once more', async () => {
    isStillOwner = false;
    ownership = moving({ everyLooks: 1 });
    let asked = 0;
    forward = (_, payload) => {
      asked += 1;
      return owner.serveForwarded(payload);
    };
    assert.equal((await target.api.call('GET', '/me', { key: tenant.key })).status, 503);
    assert.equal(asked, 1);
  });

  test('a broken invariant is 500, shown to the log and not to the caller', async () => {
    owner.calls.fail('identity', new Error('secret detail'));
    const reply = await target.api.call('GET', '/me', { key: tenant.key });
    assert.equal(reply.status, 500);
    assert.doesNotMatch(reply.text, /secret/);
    assert.ok(owner.lines.some(({ level, message }) => level === 'error' && message === 'an endpoint threw'));
  });

  test('POST connect may wait longer than other forwarded requests', async () => {
    const waits: number[] = [];
    forward = (_, payload, timeoutMs) => {
      waits.push(timeoutMs);
      return owner.serveForwarded(payload);
    };
    const shop = await target.shop(tenant);
    waits.length = 0;
    await target.api.call('GET', `/shops/${shop}`, { key: tenant.key });
    await target.api.call('POST', `/shops/${shop}/channels/msgapp/connect`, { key: tenant.key });
    assert.deepEqual(waits, [2_000, 12_000]);
  });
});
