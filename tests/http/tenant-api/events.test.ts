/** GET /events over a real stream: pages, filters, cursors that are too old, and waits. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { done } from '../../../actors/failure.ts';
import { eraseShopEvents } from '../../../actors/tenants/stored-events/erase-events.ts';
import {
  cursorOf,
  isBefore,
  placeBefore,
  streamIdOf,
} from '../../../actors/tenants/stored-events/event-cursor.ts';
import { tenantKeys } from '../../../actors/tenants/tenant-keys.ts';
import { EVENT_WAITS } from '../../../http/tenant-api/events.ts';
import { objectIdGenerator } from '../../../runtime/object-id.ts';
import { systemRandom } from '../../../runtime/random.ts';
import { ADMIN_TOKEN, startService, targetOf } from '../service-fixture.ts';
import { sharedService } from '../shared-service.ts';
import { eventAccount } from './event-account.ts';

/** A node that owns every tenant. */
const owner = { owns: () => true };

const newId = objectIdGenerator(systemRandom);

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly shopId: string; readonly phone?: string };
}

test('a call that asks for 30 s waits for 25 s, here and at another node', async (context) => {
  const asked: number[] = [];
  const service = await startService({
    events: {
      list: (_tenantId, { waitMs }) => {
        asked.push(waitMs);
        return Promise.resolve(done({ items: [], nextCursor: '0'.repeat(24) }));
      },
    },
  });
  const target = await targetOf(service);
  context.after(async () => {
    target.close();
    await service.stop();
  });
  const { key } = await target.tenant();
  for (const waitMs of [24_999, 25_001, 30_000])
    assert.equal((await target.api.call('GET', `/events?waitMs=${waitMs}`, { key })).status, 200);
  assert.deepEqual(asked, [24_999, 25_000, 25_000]);
  assert.equal(EVENT_WAITS.mostMs('waitMs=30000'), 25_000);
});

describe('GET /events', () => {
  const { service, target } = sharedService();

  /** A tenant with two shops, a way to store events for them, and a way to read them. */
  async function reader() {
    const account = await eventAccount(service, target);
    const { owner } = account;
    return {
      ...account,
      key: tenantKeys(owner.id).events,
      tenantId: owner.id,
      async read(query: string): Promise<{ items: Shown[]; nextCursor: string }> {
        const reply = await target.api.call('GET', `/events?${query}`, { key: owner.key });
        assert.equal(reply.status, 200, reply.text);
        return reply.body.data as { items: Shown[]; nextCursor: string };
      },
      refused: (query: string) => target.api.call('GET', `/events?${query}`, { key: owner.key }),
    };
  }
  const phones = (items: readonly Shown[]) => items.map(({ data }) => Number(data.phone?.slice(1)));

  test('starts now, and then gives each event once, oldest first, in pages', async () => {
    const { store, read } = await reader();
    const first = await read('');
    assert.deepEqual(first, { items: [], nextCursor: '0'.repeat(24) });
    await store(7);
    let cursor = first.nextCursor;
    const seen: number[] = [];
    for (const size of [3, 3, 1, 0]) {
      const { items, nextCursor } = await read(`limit=3&cursor=${cursor}`);
      assert.equal(items.length, size);
      seen.push(...phones(items));
      cursor = nextCursor;
    }
    assert.deepEqual(seen, [0, 1, 2, 3, 4, 5, 6]);
    assert.equal((await read('')).nextCursor, cursor);
  });

  test('shows a message like its record, and nothing of one that is gone', async () => {
    const { store, read, shops, owner } = await reader();
    await target.connect(owner.key, shops[1]);
    const json = { channel: 'msgapp', to: '+41791230000', text: 'hello' };
    const path = `/shops/${shops[1]}/messages`;
    assert.equal((await target.api.call('POST', path, { key: owner.key, json })).status, 202);
    const start = `cursor=${'0'.repeat(24)}`;
    await read(`${start}&types=message.sent&waitMs=9000`);
    await store(1, { type: 'message.failed', shopId: shops[1], subject: newId(Date.now()) });
    const { items } = await read(`${start}&types=message.sent,message.failed`);
    assert.deepEqual(
      items.map(({ type, data }) => [type, (data as unknown as { id: string; text: string }).text]),
      [['message.sent', 'hello']],
    );
  });

  test('returns events by type and by shop, and a cursor past those that do not match', async () => {
    const { store, read, shops } = await reader();
    await store(150);
    await store(2, { shopId: shops[1] });
    await store(1, { type: 'queue.resumed', shopId: shops[1], subject: '{}' });
    await store(1, { type: 'queue.resumed', subject: '{}' });
    const start = `cursor=${'0'.repeat(24)}`;
    assert.equal((await read(`${start}&shop=two`)).items.length, 3);
    assert.equal((await read(`${start}&types=queue.resumed,queue.paused`)).items.length, 2);
    const both = await read(`${start}&types=queue.resumed&shop=${shops[1]}`);
    assert.deepEqual(
      both.items.map(({ type, data }) => [type, data.shopId]),
      [['queue.resumed', shops[1]]],
    );
    assert.deepEqual((await read(`cursor=${both.nextCursor}`)).items, []);
    const none = await read(`${start}&types=channel.connected`);
    assert.deepEqual([none.items, none.nextCursor], [[], both.nextCursor]);
  });

  test('refuses an invalid type, cursor, shop and wait by name', async () => {
    const { refused } = await reader();
    for (const [query, field] of [
      ['types=message.queued', 'types'],
      ['types=', 'types'],
      ['cursor=12', 'cursor'],
      ['waitMs=30001', 'waitMs'],
      ['limit=101', 'limit'],
    ] as const) {
      const reply = await refused(query);
      assert.deepEqual([reply.status, reply.body.error.fields[0].field], [422, field], query);
    }
    assert.equal((await refused('shop=nowhere')).body.error.code, 'SHOP_NOT_FOUND');
  });

  test('refuses a cursor after which events are gone, with the cursor to continue from', async () => {
    const { store, read, refused, key } = await reader();
    await store(3);
    const { items, nextCursor } = await read(`limit=1&cursor=${'0'.repeat(24)}`);
    await store(4);
    const [oldestShown] = (await read(`limit=1&cursor=${nextCursor}`)).items;
    assert.ok(oldestShown && items[0]);
    await service.store.append([['XTRIM', key, 'MINID', streamIdOf(oldestShown.id)]]);
    const reply = await refused(`cursor=${'0'.repeat(24)}`);
    assert.deepEqual([reply.status, reply.body.error.code], [422, 'VALIDATION_ERROR']);
    const [{ field, message }] = reply.body.error.fields;
    assert.equal(field, 'cursor');
    assert.ok(message.includes(oldestShown.id));
    const goOn = reply.body.error.nextCursor;
    assert.ok(message.includes(`go on from ${goOn}`));
    assert.deepEqual(phones((await read(`cursor=${goOn}`)).items), [1, 2, 3, 4, 5, 6]);
    // Nothing was missed behind the newest, though it is gone.
    const { nextCursor: newest } = await read('');
    await service.store.append([['XTRIM', key, 'MAXLEN', 0]]);
    assert.deepEqual(await read(`cursor=${newest}`), { items: [], nextCursor: newest });
    assert.equal((await read('')).nextCursor, newest);
  });

  test('refuses a cursor after the newest event, and returns the present cursor', async () => {
    const { store, read, refused, key } = await reader();
    const nowhere = '0'.repeat(24);
    const isRefused = async (cursor: string, newest: string): Promise<void> => {
      const { status, body } = await refused(`cursor=${cursor}&waitMs=9000`);
      assert.deepEqual(
        [status, body.error.code, body.error.fields[0].field],
        [422, 'VALIDATION_ERROR', 'cursor'],
      );
      assert.equal(body.error.nextCursor, newest);
    };
    // Before the first event there is one place alone.
    assert.deepEqual(await read(`cursor=${nowhere}`), { items: [], nextCursor: nowhere });
    await isRefused('f'.repeat(24), nowhere);
    await isRefused(`${'0'.repeat(23)}1`, nowhere);
    await store(2);
    const { nextCursor: newest } = await read('');
    await isRefused('f'.repeat(24), newest);
    await isRefused(`${newest.slice(0, -1)}f`, newest);
    // The id of something else counts seconds where a cursor counts milliseconds.
    await isRefused(newId(Date.now()), newest);
    await service.store.append([['XDEL', key, streamIdOf(newest)]]);
    assert.deepEqual(await read(`cursor=${newest}`), { items: [], nextCursor: newest });
    await isRefused('f'.repeat(24), newest);
  });

  test('erases all events of one shop, and no other event or cursor', async () => {
    const { store, read, shops, key, tenantId } = await reader();
    await store(120);
    await store(3, { shopId: shops[1] });
    await store(1);
    const start = `cursor=${'0'.repeat(24)}&limit=100`;
    const before = await read(`${start}&shop=two`);
    const { nextCursor } = await read('');
    await eraseShopEvents({ store: service.store, actors: owner }, { tenantId, shopId: shops[0] });
    const [dump] = (await service.store.append([['DUMP', key]])) as [string];
    assert.ok(!dump.includes(shops[0]) && dump.includes(shops[1]));
    assert.deepEqual(
      (await read(`cursor=${cursorOf(placeBefore(streamIdOf(before.items[0]?.id ?? '')))}`)).items,
      before.items,
    );
    await eraseShopEvents({ store: service.store, actors: owner }, { tenantId, shopId: shops[1] });
    assert.deepEqual(await read(''), { items: [], nextCursor });
  });

  test('continues after an event that was erased with its shop', async () => {
    const { store, read, shops, tenantId } = await reader();
    await store(2);
    const { nextCursor } = await read('');
    await store(1);
    await store(2, { shopId: shops[1] });
    await eraseShopEvents({ store: service.store, actors: owner }, { tenantId, shopId: shops[0] });
    assert.deepEqual(phones((await read(`cursor=${nextCursor}`)).items), [3, 4]);
    assert.deepEqual(phones((await read(`cursor=${'0'.repeat(24)}`)).items), [3, 4]);
  });

  test('waits for the next event that fits, and for no longer than it was asked to', async () => {
    const { store, read, shops } = await reader();
    const { nextCursor } = await read('');
    const waiting = read(`cursor=${nextCursor}&waitMs=9000&shop=two`);
    await entered(1);
    await store(1);
    await store(1, { shopId: shops[1] });
    assert.deepEqual(phones((await waiting).items), [1]);
    const startedMs = performance.now();
    assert.deepEqual((await read('waitMs=200')).items, []);
    assert.ok(performance.now() - startedMs >= 190);
    assert.equal(service.eventWaiters.count, 0);
  });

  test('waits and continues also if the names of its query are percent-encoded', async () => {
    const { store, read } = await reader();
    const { nextCursor } = await read('');
    const waiting = read(`c%75rsor=${nextCursor}&wait%4Ds=9000`);
    await entered(1);
    await store(1);
    assert.deepEqual(phones((await waiting).items), [0]);
  });

  test('answers waiting calls when the tenant leaves the node, with the position to continue from', async () => {
    const { read, tenantId } = await reader();
    const { nextCursor } = await read('');
    const waiting = read(`cursor=${nextCursor}&waitMs=9000`);
    await entered(1);
    service.eventWaiters.end(tenantId);
    assert.deepEqual(await waiting, { items: [], nextCursor });
  });

  test('refuses a call whose key was revoked while it waited, and counts it once', async () => {
    const { read, refused, owner, counted } = await reader();
    const { nextCursor } = await read('');
    const waitingPromise = refused(`cursor=${nextCursor}&waitMs=9000`);
    await entered(1);
    await target.admin.call('DELETE', `/tenants/${owner.id}/keys/${owner.keyId}`, { key: ADMIN_TOKEN });
    assert.equal((await waitingPromise).body.error.code, 'API_KEY_REVOKED');
    assert.deepEqual([service.eventWaiters.count, await counted()], [0, 2]);
  });

  test('frees the slot of a call that was broken off at once', async () => {
    const { read, owner } = await reader();
    const { nextCursor } = await read('');
    const end = new AbortController();
    const brokenPromise = fetch(`${service.apiUrl}/events?cursor=${nextCursor}&waitMs=30000`, {
      headers: { authorization: `Bearer ${owner.key}` },
      signal: end.signal,
    });
    await entered(1);
    const startedMs = performance.now();
    end.abort();
    await assert.rejects(brokenPromise, { name: 'AbortError' });
    while (service.eventWaiters.count > 0 && performance.now() - startedMs < 5_000) await nextTurn();
    assert.equal(service.eventWaiters.count, 0);
  });

  test('lets 256 calls of a tenant wait, and refuses one more with 503 OVERLOADED', async () => {
    const { read, refused, store, tenantId } = await reader();
    const waits = Array.from({ length: 256 }, () => service.eventWaiters.enter(tenantId, 30_000));
    assert.ok(!waits.includes(undefined));
    const { items, nextCursor } = await read('waitMs=9000');
    assert.deepEqual(items, []);
    const { status, body, headers } = await refused(`cursor=${nextCursor}&waitMs=9000`);
    assert.deepEqual([status, body.error.code, headers['retry-after']], [503, 'OVERLOADED', '5']);
    assert.deepEqual((await read(`cursor=${nextCursor}`)).items, []);
    await store(1);
    assert.equal((await read(`cursor=${nextCursor}&waitMs=9000`)).items.length, 1);
    for (const wait of waits) wait?.leave();
    assert.equal(service.eventWaiters.count, 0);
  });

  test('answers other calls while one waits, though only one may be in progress', async () => {
    const ownFixture = await startService({ mostInProgress: 1 });
    const otherTarget = await targetOf(ownFixture);
    const { owner, store } = await eventAccount(ownFixture, otherTarget);
    const call = (path: string) => otherTarget.api.call('GET', path, { key: owner.key });
    const waitingPromise = call('/events?waitMs=9000');
    while (ownFixture.eventWaiters.count < 1) await nextTurn();
    // It is in flight until its first read has found nothing.
    const startedMs = performance.now();
    while ((await call('/shops')).status !== 200) assert.ok(performance.now() - startedMs < 5_000);
    for (let count = 0; count < 3; count += 1) assert.equal((await call('/shops')).status, 200);
    await store(1);
    assert.equal((await waitingPromise).body.data.items.length, 1);
    assert.equal((await call('/shops')).status, 200);
    otherTarget.close();
    await ownFixture.stop();
  });

  async function entered(count: number): Promise<void> {
    while (service.eventWaiters.count < count) await nextTurn();
  }
});

describe('a cursor', () => {
  test('is the position in the stream, in the same order', () => {
    const places = ['0-0', '0-1', '1-0', '1700000000000-0', '1700000000000-17', '1700000000001-0'];
    const cursors = places.map(cursorOf);
    assert.deepEqual(cursors.toSorted(), cursors);
    assert.deepEqual(cursors.map(streamIdOf), places);
    for (const [index, place] of places.entries()) {
      for (const [other, later] of places.entries()) assert.equal(isBefore(place, later), index < other);
      if (index > 0) assert.ok(isBefore(placeBefore(place), place));
    }
    assert.equal(placeBefore('5-0'), `4-${2 ** 48 - 1}`);
  });
});
