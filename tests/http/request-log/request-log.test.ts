import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AnsweredRequest } from '../../../http/contract/answered-request.ts';
import { RequestLog, type RequestLogLimits } from '../../../http/request-log/request-log.ts';
import type { RequestLogEntry } from '../../../http/request-log/request-log-entry.ts';
import {
  REQUEST_LOG_BYTES,
  REQUEST_LOG_ERASED,
  REQUEST_LOG_INDEX,
  requestLogKeys,
} from '../../../http/request-log/request-log-keys.ts';
import {
  listRequests,
  type RequestLogQuery,
  readRefusals,
} from '../../../http/request-log/request-log-reader.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../runtime/durations.ts';
import type { Store } from '../../../runtime/store.ts';
import { deferred } from '../../testbed/deferred.ts';
import { sharedRedis } from '../../testbed/shared-redis.ts';
import { plainStore } from '../service-fixture.ts';

const everything: RequestLogQuery = {
  tenantId: undefined,
  status: undefined,
  route: undefined,
  code: undefined,
  mustBeRefused: false,
  afterMs: undefined,
  limit: 100,
  cursor: undefined,
};

const LIMITS: RequestLogLimits = {
  maxEntriesPerTenant: 100_000,
  maxAgeMs: 7 * DAY_MS,
  maxBytes: 2 ** 28,
};

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

describe('the request log', () => {
  const { redis } = sharedRedis();
  const store: Pick<Store, 'read' | 'append'> = plainStore(redis);
  let made = 0;
  function openLog(limits?: Partial<RequestLogLimits>, logStore = store): RequestLog {
    return new RequestLog({
      store: logStore,
      clock: systemClock,
      log: silent,
      limits: { ...LIMITS, ...limits },
    });
  }

  /** A store whose first write waits until it is refused. */
  function holding() {
    let refuse: ((reason: Error) => void) | undefined;
    const { promise: began, resolve: begin } = deferred();
    const append: Store['append'] = (writes) => {
      if (refuse !== undefined) return store.append(writes);
      return new Promise((_, reject) => {
        refuse = reject;
        begin();
      });
    };
    return { store: { ...store, append }, began, refuse: () => refuse?.(new Error('away')) };
  }

  function entry(more: Partial<AnsweredRequest> = {}): AnsweredRequest {
    made += 1;
    const fields = {
      atMs: Date.now(),
      requestId: `r${made}`,
      tenantId: 'a'.repeat(24),
      keyId: undefined,
      method: 'GET',
      route: '/me',
      status: 200,
      latencyMs: 0.5,
      ip: '127.0.0.1',
      errorCode: undefined,
    };
    return { ...fields, ...more };
  }

  async function all(query: Partial<RequestLogQuery> = {}): Promise<RequestLogEntry[]> {
    const found: RequestLogEntry[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await listRequests(store, { ...everything, ...query, cursor: cursor ?? undefined });
      found.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return found;
  }

  test('pages newest first, and skips or repeats no entry while new ones arrive', async () => {
    await redis.flushall();
    const log = openLog();
    const ids: string[] = [];
    for (let tick = 0; tick < 30; tick += 1) {
      for (const tenantId of ['a'.repeat(24), 'b'.repeat(24), null]) {
        const answeredRequest = entry({ tenantId: tenantId ?? undefined });
        ids.push(answeredRequest.requestId);
        log.record(answeredRequest);
      }
      await log.flush();
    }
    const seen: string[] = [];
    let cursor: string | undefined;
    for (;;) {
      const page = await listRequests(store, { ...everything, limit: 7, cursor });
      seen.push(...page.items.map(({ requestId }) => requestId));
      log.record(entry());
      await log.flush();
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    assert.deepEqual(new Set(seen), new Set(ids));
    assert.equal(seen.length, ids.length);
    await log.close();
  });

  test('counts the refusals of a tenant by code, the newest first', async () => {
    await redis.flushall();
    const log = openLog();
    const tenantId = 'a'.repeat(24);
    const refused = (status: number, errorCode: string, secondsAgo: number): void =>
      log.record(entry({ tenantId, status, errorCode, atMs: Date.now() - secondsAgo * 1_000 }));
    refused(429, 'RATE_LIMITED', 3_600);
    refused(429, 'RATE_LIMITED', 90);
    refused(422, 'EMPTY_MESSAGE', 30);
    log.record(entry({ tenantId, status: 202 }));
    for (let call = 0; call < 3; call += 1) refused(429, 'RATE_LIMITED', 10 - call);
    log.record(entry({ tenantId: 'b'.repeat(24), status: 500, errorCode: 'INTERNAL_ERROR' }));
    await log.flush();
    const { items } = await readRefusals(store, tenantId, Date.now() - 60_000);
    assert.deepEqual(
      items.map(({ code, calls }) => [code, calls]),
      [
        ['RATE_LIMITED', 3],
        ['EMPTY_MESSAGE', 1],
      ],
    );
    await log.close();
  });

  test('reads a limited number of entries a call', async () => {
    await redis.flushall();
    const log = openLog();
    const beganMs = Date.now();
    log.record(entry({ status: 500, errorCode: 'INTERNAL_ERROR', atMs: beganMs }));
    for (let tick = 0; tick < 20; tick += 1) {
      for (let call = 0; call < 1_000; call += 1) log.record(entry({ atMs: beganMs + 1 + tick }));
      await log.flush();
    }
    const page = await listRequests(store, { ...everything, status: 500 });
    assert.deepEqual(page.items, []);
    assert.ok(page.nextCursor !== null);
    const rest = await listRequests(store, { ...everything, status: 500, cursor: page.nextCursor });
    assert.deepEqual([rest.items.length, rest.nextCursor], [1, null]);
    const counted = await readRefusals(store, 'a'.repeat(24), beganMs);
    assert.deepEqual(counted.items, []);
    assert.ok(Date.parse(counted.since) >= beganMs && Date.parse(counted.since) < beganMs + 20);
    await log.close();
  });

  test('filters by tenant, status, route, refusal and time', async () => {
    await redis.flushall();
    const log = openLog();
    const nowMs = Date.now();
    log.record(entry({ status: 404, route: 'unmatched', tenantId: undefined, errorCode: 'NOT_FOUND' }));
    log.record(entry({ status: 500, route: '/shops' }));
    log.record(entry({ status: 201, atMs: nowMs - 5_000 }));
    await log.flush();
    assert.deepEqual(
      (await all({ tenantId: 'nobody' })).map(({ status }) => status),
      [404],
    );
    assert.deepEqual(
      (await all({ code: 'NOT_FOUND' })).map(({ code }) => code),
      ['NOT_FOUND'],
    );
    assert.deepEqual((await all({ mustBeRefused: true })).map(({ status }) => status).sort(), [404, 500]);
    assert.deepEqual(
      (await all({ status: 500 })).map(({ route }) => route),
      ['/shops'],
    );
    assert.deepEqual(
      (await all({ route: 'unmatched' })).map(({ tenantId }) => tenantId),
      [null],
    );
    assert.equal((await all({ afterMs: nowMs - 2_000 })).length, 2);
    await log.close();
  });

  test('keeps a limited number of entries a tenant', async () => {
    await redis.flushall();
    const log = openLog({ maxEntriesPerTenant: 100 });
    for (let tick = 0; tick < 40; tick += 1) {
      for (let call = 0; call < 10; call += 1) log.record(entry());
      await log.flush();
    }
    const kept = await all();
    assert.ok(kept.length >= 100 && kept.length < 110, `${kept.length}`);
    assert.equal(kept[0]?.requestId, `r${made}`);
    await log.close();
  });

  test('drops old entries with the next one, and a silent tenant altogether', async () => {
    await redis.flushall();
    const log = openLog({ maxAgeMs: MINUTE_MS });
    const [stream, counters] = requestLogKeys('a'.repeat(24));
    await redis.xadd(stream, '1-1', 'n', 1, 'c', '[1,"old","","GET","/me",200,1,""]');
    await redis.hset(counters, 'entries', 1, 'bytes', 32);
    log.record(entry());
    await log.flush();
    assert.equal((await all()).length, 1);
    const expiry = await redis.pttl(stream);
    assert.ok(expiry > 0 && expiry <= 60_000);
    await log.close();
  });

  test('all logs together keep a limited number of bytes, and the largest drops entries first', async () => {
    await redis.flushall();
    const log = openLog({ maxBytes: 3_000 });
    for (let tick = 0; tick < 60; tick += 1) {
      log.record(entry());
      if (tick % 6 === 0) log.record(entry({ tenantId: 'b'.repeat(24) }));
      await log.flush();
    }
    await log.holdToSize();
    const kept = await all();
    const bytes = kept.reduce((sum, { requestId }) => sum + 60 + requestId.length, 0);
    assert.ok(bytes < 4_000, `${bytes}`);
    assert.equal(kept.filter(({ tenantId }) => tenantId === 'b'.repeat(24)).length, 10);
    await log.close();
  });

  test('gives up in one check as much as it takes, though each call to Redis gives up little', async () => {
    await redis.flushall();
    const log = openLog({ maxBytes: 3_000 });
    for (let tick = 0; tick < 1_200; tick += 1) {
      log.record(entry());
      await log.flush();
    }
    await log.holdToSize();
    const bytes = Number(await redis.hget(requestLogKeys('a'.repeat(24))[1], 'bytes'));
    assert.ok(bytes > 2_000 && bytes <= 3_000, `${bytes}`);
    await log.close();
  });

  test('keeps entries that Redis refuses and writes them when Redis is back; none missing after close', async () => {
    await redis.flushall();
    let isAway = true;
    const log = openLog(undefined, {
      ...store,
      append: (writes) => (isAway ? Promise.reject(new Error('away')) : store.append(writes)),
    });
    const ids: string[] = [];
    for (let call = 0; call < 50; call += 1) {
      const answeredRequest = entry();
      ids.unshift(answeredRequest.requestId);
      log.record(answeredRequest);
      if (call % 10 === 0) await assert.rejects(log.flush());
    }
    isAway = false;
    await log.close();
    assert.deepEqual(
      (await all()).map(({ requestId }) => requestId),
      ids,
    );
    assert.equal(log.dropped, 0);
  });

  test('entries recorded while a write failed come after the entries of that write', async () => {
    await redis.flushall();
    const held = holding();
    const log = openLog(undefined, held.store);
    const [first, secondRequest] = [entry(), entry()];
    log.record(first);
    await held.began;
    log.record(secondRequest);
    held.refuse();
    await log.flush().catch(() => log.flush());
    assert.deepEqual(
      (await all()).map(({ requestId }) => requestId),
      [secondRequest.requestId, first.requestId],
    );
    await log.close();
  });

  test('drops entries that exceed the memory limit while Redis is away, and counts them', async () => {
    const log = openLog(undefined, { ...store, append: () => Promise.reject(new Error('away')) });
    const answeredRequest = entry();
    for (let call = 0; call < 50_003; call += 1) log.record(answeredRequest);
    assert.equal(log.dropped, 3);
    await log.close();
  });

  test('forgets a tenant', async () => {
    await redis.flushall();
    const log = openLog();
    log.record(entry());
    await log.flush();
    await log.forget('a'.repeat(24));
    assert.deepEqual(await redis.keys('*'), [REQUEST_LOG_ERASED]);
    assert.doesNotMatch((await redis.zrange(REQUEST_LOG_ERASED, '0', '-1')).join(), /aaa/);
    await log.close();
  });

  test('forgets a tenant also if another node has waiting entries of it, or writes more later', async () => {
    await redis.flushall();
    const [owner, otherLog] = [openLog(), openLog()];
    otherLog.record(entry());
    otherLog.record(entry({ tenantId: 'b'.repeat(24) }));
    await owner.forget('a'.repeat(24));
    await otherLog.flush();
    owner.record(entry());
    await owner.flush();
    const kept = await all();
    assert.deepEqual(
      kept.map(({ tenantId }) => tenantId),
      ['b'.repeat(24)],
    );
    assert.deepEqual(
      (await redis.keys('*')).sort(),
      [REQUEST_LOG_BYTES, REQUEST_LOG_ERASED, REQUEST_LOG_INDEX, ...requestLogKeys('b'.repeat(24))].sort(),
    );
    assert.deepEqual(await redis.zrange(REQUEST_LOG_INDEX, '0', '-1'), ['b'.repeat(24)]);
    await owner.close();
    await otherLog.close();
  });

  test('does not name a tenant again that is erased while its log is cut to size', async () => {
    await redis.flushall();
    const eraser = openLog();
    let isCutting = false;
    const append: Store['append'] = async (writes) => {
      const answers = await store.append(writes);
      if (isCutting && writes[0]?.[0] === 'EVAL') await eraser.forget('a'.repeat(24));
      return answers;
    };
    const log = openLog({ maxBytes: 1 }, { ...store, append });
    log.record(entry());
    await log.flush();
    isCutting = true;
    await log.holdToSize();
    assert.deepEqual(await redis.keys('*'), [REQUEST_LOG_ERASED]);
    await log.close();
    await eraser.close();
  });

  test('no longer marks a tenant as erased once nothing can be left of its entries', async () => {
    await redis.flushall();
    const log = openLog({ maxAgeMs: MINUTE_MS });
    await redis.zadd(REQUEST_LOG_ERASED, Date.now() - 61_000, 'long ago');
    await log.forget('a'.repeat(24));
    await log.holdToSize();
    assert.equal(await redis.zcard(REQUEST_LOG_ERASED), 1);
    await log.close();
  });

  test('forgets a tenant while Redis refuses its entries', async () => {
    await redis.flushall();
    const held = holding();
    const log = openLog(undefined, held.store);
    log.record(entry());
    await held.began;
    const forgotten = log.forget('a'.repeat(24));
    held.refuse();
    await forgotten;
    await log.close();
    assert.deepEqual(await redis.keys('*'), [REQUEST_LOG_ERASED]);
  });
});
