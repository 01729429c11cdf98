/** The client's flows of more than one call: lists to their end, the event feed, outcomes, connecting. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../client/src/api-error.ts';
import { endedMessage } from '../../client/src/event-feed.ts';
import type { Channel } from '../../client/src/operations.ts';
import { type Answering, cutOff, type FakeApi, fakeApi, inTurn, ok, refused, silent } from './fake-api.ts';

const id = (number: number): string => String(number).padStart(24, '0');
const event = (number: number, type = 'message.sent', data: object = {}): object => ({
  id: id(number),
  type,
  timestamp: '2026-11-21T12:00:00.000Z',
  data: { id: `m${number}`, status: 'sent', ...data },
});
const page = (events: readonly object[], next: number) => ok({ items: events, nextCursor: id(next) });

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const foundItems: Item[] = [];
  for await (const item of items) foundItems.push(item);
  return foundItems;
}

test('a list by cursor continues after short and empty pages, to the end', async () => {
  const pages = [
    { items: [{ id: 'a' }], nextCursor: id(1) },
    { items: [], nextCursor: id(2) },
    { items: [{ id: 'b' }], nextCursor: null },
  ];
  for (const list of ['eachMessage', 'eachContact', 'eachInbound', 'eachScheduled'] as const) {
    const { api, calls } = fakeApi(inTurn(...pages.map((data) => () => ok(data))));
    assert.deepEqual(
      (await all<{ readonly id: string }>(api[list]({ idOrName: 's' }))).map((item) => item.id),
      ['a', 'b'],
    );
    assert.deepEqual(
      calls.map(({ url }) => url.search),
      ['?limit=100', `?limit=100&cursor=${id(1)}`, `?limit=100&cursor=${id(2)}`],
    );
  }
});

test('a list by pages gives each shop once, also when one is made meanwhile', async () => {
  const shops = (ids: readonly string[]) => ids.map((each) => ({ id: each }));
  const { api } = fakeApi(({ url }) => {
    const number = Number(url.searchParams.get('page'));
    const items = [shops(['d', 'c']), shops(['c', 'b']), shops(['a'])][number - 1] ?? [];
    return ok({ items, page: number, limit: 2, total: 5 });
  });
  assert.deepEqual(
    (await all(api.eachShop())).map((shop) => shop.id),
    ['d', 'c', 'b', 'a'],
  );
});

test('a list by pages leaves no shop out when another is erased meanwhile', async () => {
  let ids = Array.from({ length: 101 }, (_, index) => `s${index}`);
  const { api } = fakeApi(({ url }) => {
    const number = Number(url.searchParams.get('page'));
    const items = ids.slice((number - 1) * 100, number * 100).map((each) => ({ id: each }));
    const reply = ok({ items, page: number, limit: 100, total: ids.length });
    ids = ids.filter((each) => each !== 's5');
    return reply;
  });
  const shops = (await all(api.eachShop())).map((shop) => shop.id);
  assert.deepEqual(
    shops,
    Array.from({ length: 101 }, (_, index) => `s${index}`),
  );
});

test('a feed asks the same cursor again after a failure, and gives each event once', async () => {
  const fake = fakeApi(
    inTurn(
      () => page([], 0),
      () => page([event(1), event(2)], 2),
      cutOff,
      () => refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 1 }),
      () => page([event(3)], 4),
      silent,
    ),
  );
  const feed = fake.api.followEvents({ types: ['message.sent', 'message.failed'], shop: 's' });
  const seen: string[] = [];
  const places: (string | undefined)[] = [];
  const end = (async () => {
    for await (const { id: place } of feed) {
      seen.push(place);
      places.push(feed.cursor);
    }
  })();
  end.catch(() => undefined);
  await fake.clock.until(() => fake.calls.length === 6);
  assert.deepEqual(seen, [id(1), id(2), id(3)]);
  assert.deepEqual(places, seen, 'the cursor is behind the event that is handled');
  assert.equal(feed.cursor, id(4), 'and behind the page once it is through');
  assert.deepEqual(
    fake.calls.map(({ url }) => url.searchParams.get('cursor')),
    [null, id(0), id(2), id(2), id(2), id(4)],
  );
  const { searchParams } = fake.calls[1]?.url ?? new URL('http://none');
  assert.equal(searchParams.get('types'), 'message.sent,message.failed');
  assert.equal(searchParams.get('shop'), 's');
  assert.equal(searchParams.get('waitMs'), '15000');
});

test('a feed pauses between answers that come at once, and an attempt lasts as long as its requested wait', async () => {
  const fake = fakeApi(({ url }) => page([], Number(url.searchParams.get('cursor') ?? 0) + 1));
  const end = new AbortController();
  const reading = all(fake.api.followEvents({ cursor: id(7), signal: end.signal }));
  reading.catch(() => undefined);
  await fake.clock.advance(60_000);
  assert.ok(fake.calls.length <= 21, `${fake.calls.length} calls in a minute`);
  end.abort(new Error('enough'));
  await assert.rejects(reading, /^Error: enough$/);
  const waitingApi = fakeApi(silent, { tryTimeoutMs: 2_000 });
  void waitingApi.api
    .followEvents({ cursor: id(1) })
    [Symbol.asyncIterator]()
    .next()
    .catch(() => undefined);
  await waitingApi.clock.advance(16_900);
  assert.equal(waitingApi.calls.length, 1);
  await waitingApi.clock.advance(500);
  assert.equal(waitingApi.calls.length, 2);
});

test('a feed rejects when the cursor is too old, and when the service is away for too long', async () => {
  const oldApi = fakeApi(() => refused(422, 'VALIDATION_ERROR'));
  await assert.rejects(all(oldApi.api.followEvents({ cursor: id(1) })), { code: 'VALIDATION_ERROR' });
  const away = fakeApi(cutOff);
  const begunMs = away.clock.monotonicMs();
  let failure: unknown;
  all(away.api.followEvents({ cursor: id(1), timeoutMs: 90_000 })).catch((error: unknown) => {
    failure = error;
  });
  await away.clock.until(() => failure !== undefined, 120_000);
  assert.ok(failure instanceof ApiError && failure.code === 'NO_ANSWER');
  assert.ok(away.clock.monotonicMs() - begunMs > 80_000);
});

/** Messages that end when the test ends them. */
function messages(): {
  readonly answer: Answering;
  end(message: string, status: string): void;
  waits(): number;
} {
  const ended: object[] = [];
  const records = new Map<string, string>();
  const waiting = new Set<() => void>();
  return {
    waits: () => waiting.size,
    end(message, status) {
      records.set(message, status);
      ended.push({ ...event(ended.length + 1, `message.${status}`, { id: message, status }) });
      for (const wake of waiting) wake();
    },
    answer: async ({ url, signal }) => {
      const message = /\/messages\/(\w+)$/.exec(url.pathname)?.[1];
      if (message !== undefined) return ok({ id: message, status: records.get(message) ?? 'queued' });
      const cursor = url.searchParams.get('cursor');
      if (cursor === null) return page([], ended.length);
      if (ended.length === Number(cursor)) {
        await new Promise<void>((resolve, reject) => {
          const wake = (): void => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
          signal.addEventListener('abort', () => {
            waiting.delete(wake);
            reject(signal.reason);
          });
        });
      }
      return page(ended.slice(Number(cursor)), ended.length);
    },
  };
}

test('all waits for messages share one reader of events, which ends with the last wait', async () => {
  const world = messages();
  const fake = fakeApi(world.answer);
  world.end('before', 'sent');
  const ids = ['before', ...Array.from({ length: 20 }, (_, number) => `m${number}`)];
  const ends: string[] = [];
  const waits = ids.map(async (each) => {
    const { id: found, status } = await fake.api.waitForMessage(each);
    ends.push(`${found} ${status}`);
  });
  await fake.clock.advance(100);
  assert.deepEqual(ends, ['before sent']);
  for (const each of ids.slice(1)) world.end(each, each === 'm3' ? 'failed' : 'sent');
  await fake.clock.advance(10_000);
  await Promise.all(waits);
  assert.ok(ends.includes('m3 failed'));
  assert.equal(ends.length, ids.length);
  const readings = fake.calls.filter(({ url }) => url.pathname.endsWith('/events'));
  assert.ok(readings.length <= 5, `${readings.length} readings`);
  assert.deepEqual([world.waits(), fake.timers()], [0, 0], 'nothing is asked for when nobody waits');
});

test('a message that ends while its record is read is not missed', async () => {
  const world = messages();
  const fake = fakeApi(async (call) => {
    const reply = await world.answer(call);
    // The record was read as queued, and ended before the answer arrived.
    if (call.url.pathname.endsWith('/m1')) world.end('m1', 'rejected');
    return reply;
  });
  const wait = fake.api.waitForMessage('m1');
  await fake.clock.advance(5_000);
  assert.equal((await wait).status, 'rejected');
});

test('a message that ends before the present cursor is known is not missed', async () => {
  const world = messages();
  const fake: FakeApi = fakeApi(async (call) => {
    const isPlace = call.url.pathname.endsWith('/events') && !call.url.searchParams.has('cursor');
    if (isPlace) await new Promise<void>((resolve) => void fake.clock.after(1_000, resolve));
    return world.answer(call);
  });
  const wait = fake.api.waitForMessage('m1', { timeoutMs: 5_000 });
  wait.catch(() => undefined);
  await fake.clock.advance(500);
  world.end('m1', 'sent');
  await fake.clock.advance(5_000);
  assert.equal((await wait).status, 'sent');
});

test('a wait ends with its signal or its time, and with the failure of the feed', async () => {
  const fake = fakeApi(messages().answer);
  const end = new AbortController();
  const aborted = fake.api.waitForMessage('m1', { signal: end.signal });
  const late = fake.api.waitForMessage('m2', { timeoutMs: 5_000 });
  for (const wait of [aborted, late]) wait.catch(() => undefined);
  await fake.clock.advance(100);
  end.abort(new Error('enough'));
  await assert.rejects(aborted, /^Error: enough$/);
  await fake.clock.advance(5_000);
  await assert.rejects(late, { code: 'TIMEOUT' });
  const forbidden = fakeApi(() => refused(403, 'FORBIDDEN_PERMISSION'));
  await assert.rejects(forbidden.api.waitForMessage('m1'), { code: 'FORBIDDEN_PERMISSION' });
});

test('connect gives each new code and then the connection, and starts again when all codes were used up', async () => {
  const channel = (status: Channel['status'], qr?: string) =>
    ok({ status, channelConfigId: null, pollAfterMs: 2_000, ...(qr === undefined ? {} : { qr }) });
  const fake = fakeApi(
    inTurn(
      () => channel('starting'),
      () => channel('qr_waiting', 'one'),
      cutOff,
      () => channel('qr_waiting', 'one'),
      () => channel('qr_waiting', 'two'),
      () => channel('disconnected'),
      cutOff,
      () => channel('qr_waiting', 'three'),
      () => ok({ status: 'disconnected', channelConfigId: null, reason: 'NUMBER_IN_USE' }),
      () => channel('qr_waiting', 'four'),
      () => channel('connected'),
    ),
  );
  const given: (string | undefined)[] = [];
  let isOver = false;
  void (async () => {
    for await (const { status, qr, reason } of fake.api.connect({ idOrName: 's' }))
      given.push(reason ?? qr ?? status);
    isOver = true;
  })();
  await fake.clock.until(() => isOver);
  assert.deepEqual(given, ['one', 'two', 'three', 'NUMBER_IN_USE', 'four', 'connected']);
  assert.deepEqual(
    fake.calls.map(({ method }) => method),
    ['POST', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'GET', 'POST', 'GET'],
  );
});

test('a feed has inbound messages, and they do not end a message', async () => {
  const received = { shopId: 's', kind: 'text', text: 'Are you open?' };
  const { api } = fakeApi(() => page([event(1, 'message.received', received)], 1));
  for await (const told of api.followEvents({ cursor: id(0), types: ['message.received'] })) {
    assert.ok(told.type === 'message.received');
    assert.deepEqual([told.data.text, endedMessage(told)], ['Are you open?', undefined]);
    break;
  }
});

test('an unknown type of event is yielded like any other, and does not end a message', async () => {
  const unknown = ['sun.rose', 'message.thrown'].map((type, index) => event(index + 1, type));
  const fake = fakeApi(inTurn(() => page([...unknown, event(3, 'message.failed')], 3), silent));
  const seen: string[] = [];
  const ended: (string | undefined)[] = [];
  void (async () => {
    for await (const event of fake.api.followEvents({ cursor: id(0) })) {
      seen.push(event.type);
      ended.push(endedMessage(event)?.id);
    }
  })().catch(() => undefined);
  await fake.clock.until(() => seen.length === 3);
  assert.deepEqual(seen, ['sun.rose', 'message.thrown', 'message.failed']);
  assert.deepEqual(ended, [undefined, undefined, 'm3']);
});
