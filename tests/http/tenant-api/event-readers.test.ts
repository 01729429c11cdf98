/** GET /events as a stream: places, filters, what ends it, what it may take, and what becomes of a reader that lags. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReplyStream } from '../../../http/contract/exchange.ts';
import type { CallWait } from '../../../http/contract/waiting.ts';
import type { OwnerReply } from '../../../http/owner/owner-reply.ts';
import { EventReaders } from '../../../http/tenant-api/event-streams/event-readers.ts';
import { deferred } from '../../testbed/deferred.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';
import { ADMIN_TOKEN, startService, targetOf } from '../service-fixture.ts';
import { sharedService } from '../shared-service.ts';
import { eventAccount } from './event-account.ts';

const START = '0'.repeat(24);

interface Block {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data:
    | { readonly id: string; readonly code?: string; readonly data: { phone: string } }
    | undefined;
}

describe('a stream of events', () => {
  const { service, target } = sharedService();

  async function account() {
    const madeAccount = await eventAccount(service, target);
    return {
      ...madeAccount,
      open: (query: string, headers: Record<string, string> = {}) =>
        open(madeAccount.owner.key, query, headers),
    };
  }

  async function open(key: string, query: string, headers: Record<string, string>) {
    const end = new AbortController();
    const answer = await fetch(`${service.apiUrl}/events?${query}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream', ...headers },
      signal: end.signal,
    });
    const isStream = answer.headers.get('content-type') === 'text/event-stream';
    const chunks = isStream ? answer.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined;
    const blocks: Block[] = [];
    let rest = '';
    let isOver = false;
    return {
      answer,
      blocks,
      /** Reads until it fits, or the stream ends. */
      async until(fits: () => boolean): Promise<void> {
        while (!isOver && !fits()) {
          const { done, value } = (await chunks?.read()) ?? { done: true, value: '' };
          isOver = done;
          const parts = (rest + (value ?? '')).split('\n\n');
          rest = parts.pop() ?? '';
          for (const part of parts) {
            const line = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(part)?.[1];
            const data = line('data');
            blocks.push({ id: line('id'), event: line('event'), data: data && JSON.parse(data) });
          }
        }
      },
      get isOver() {
        return isOver;
      },
      close: () => end.abort(),
    };
  }
  const phones = (blocks: readonly Block[]) =>
    blocks.flatMap(({ event, data }) => (event?.startsWith('recipient') ? [Number(data?.data.phone)] : []));

  test('sends stored and new events, each with its cursor, and is counted as one call', async () => {
    const { store, counted, open: stream } = await account();
    await store(120);
    const { answer, blocks, until, close } = await stream(`cursor=${START}`);
    assert.equal(answer.headers.get('content-type'), 'text/event-stream');
    await until(() => phones(blocks).length === 120);
    await store(2);
    await until(() => phones(blocks).length === 122);
    assert.deepEqual(
      phones(blocks),
      Array.from({ length: 122 }, (_, index) => index),
    );
    for (const { id, data } of blocks) if (data) assert.equal(id, data.id);
    close();
    // It continues after the event with that id, whatever the query names.
    const halfId = blocks.filter(({ data }) => data)[99]?.id ?? '';
    const again = await stream(`cursor=${START}`, { 'last-event-id': halfId });
    await again.until(() => phones(again.blocks).length === 22);
    assert.equal(phones(again.blocks)[0], 100);
    again.close();
    assert.equal(await counted(), 2);
  });

  test('has events by type and shop, and its cursor moves past events that do not match', async () => {
    const { shops, store, open: stream } = await account();
    const { blocks, until, close } = await stream('shop=two&types=recipient.opted_out');
    await until(() => blocks.some(({ id }) => id !== undefined));
    await store(3);
    await store(1, { type: 'queue.resumed', shopId: shops[1], subject: '{}' });
    await store(1, { shopId: shops[1] });
    await until(() => phones(blocks).length === 1);
    assert.deepEqual(phones(blocks), [4]);
    close();
  });

  test('is refused in JSON like any other call, and not opened for a call that asks for no stream', async () => {
    const { open: stream } = await account();
    for (const [query, headers, field] of [
      ['types=nothing', {}, 'types'],
      ['', { 'last-event-id': 'x' }, 'last-event-id'],
      [`cursor=${START}`, { 'last-event-id': 'f'.repeat(24) }, 'last-event-id'],
      ['cursor=1', {}, 'cursor'],
    ] as const) {
      const { answer } = await stream(query, headers);
      const body = (await answer.json()) as { error: { fields: [{ field: string }] } };
      assert.deepEqual([answer.status, body.error.fields[0].field], [422, field]);
    }
  });

  for (const [accept, isStream] of [
    ['application/json, text/event-stream;q=0', false],
    ['text/event-stream;q=0.000;x=1', false],
    ['*/*', false],
    ['text/*', false],
    ['application/json, text/event-stream;q=0.5', false],
    ['text/event-stream;q=0.5, application/*;q=0.8', false],
    ['text/event-stream;q=0.1, */*', false],
    ['application/json;q=0.5, text/event-stream', true],
    ['text/event-stream, application/json, */*', true],
    ['Text/Event-Stream ; charset=utf-8;Q=0.9, application/json;q=0.9', true],
    ['text/event-stream;q=0.2, application/json;q=0, */*', true],
    ['text/event-stream;q=high', true],
    ['text/event-stream;q=', true],
    ['text/event-stream;q=-1, application/json;q=1.0', true],
    ['text/event-stream, application/json;q=0x2', true],
    ['text/event-stream;q=0., application/json', false],
  ] as const) {
    test(`${isStream ? 'is opened' : 'is not opened'} by Accept: ${accept}`, async () => {
      const { open: stream } = await account();
      const { answer, close } = await stream('', { accept });
      const type = answer.headers.get('content-type') ?? '';
      if (isStream) close();
      assert.match(type, isStream ? /^text\/event-stream$/ : /json/);
    });
  }

  test('ends with the reason when its key is revoked', async () => {
    const { owner, open: stream } = await account();
    const { blocks, until } = await stream('');
    await until(() => blocks.some(({ id }) => id !== undefined));
    while (service.eventWaiters.count === 0) await nextTurn();
    await target.admin.call('DELETE', `/tenants/${owner.id}/keys/${owner.keyId}`, { key: ADMIN_TOKEN });
    await until(() => false);
    const lastBlock = blocks.at(-1);
    assert.deepEqual([lastBlock?.event, lastBlock?.data?.code], ['end', 'API_KEY_REVOKED']);
  });

  test('ends with its cursor when the service stops, and takes no more than its bound', async () => {
    const ownFixture = await startService();
    const otherTarget = await targetOf(ownFixture);
    const owner = await otherTarget.tenant({ plan: 'scale' });
    const headers = { authorization: `Bearer ${owner.key}`, accept: 'text/event-stream' };
    const streams = [];
    for (let index = 0; index < 256; index += 1)
      streams.push(await fetch(`${ownFixture.apiUrl}/events`, { headers }));
    assert.ok(streams.every(({ status }) => status === 200));
    const moreResponse = await fetch(`${ownFixture.apiUrl}/events`, { headers });
    assert.deepEqual(
      [moreResponse.status, ((await moreResponse.json()) as { error: { code: string } }).error.code],
      [503, 'OVERLOADED'],
    );
    for (const name of ['limit', 'remaining', 'reset', 'scope'])
      assert.ok(moreResponse.headers.has(`x-ratelimit-${name}`), name);
    const texts = Promise.all(streams.map((stream) => stream.text()));
    otherTarget.close();
    await ownFixture.stop();
    for (const text of await texts) {
      // On a busy machine the first of them have seen a sign of life.
      assert.match(text.replaceAll(': still here\n\n', ''), /^retry: \d+\n\n(id: 0{24}\n\n)?$/);
    }
  });
});

/** A reader of a stream made by the test. It takes nothing while `isSlow`. */
class Slow implements ReplyStream {
  isSlow = false;
  heldBytes = 1;
  received = '';
  ended = false;
  readonly #closed: (() => void)[] = [];
  waitUntilDrained(): Promise<void> {
    return Promise.resolve();
  }

  write(text: string): boolean {
    this.received += text;
    return !this.isSlow;
  }
  end(): void {
    this.ended = true;
    for (const callback of this.#closed.splice(0)) callback();
  }
  drop(): void {
    this.end();
  }
  bufferedBytes(): number {
    return this.isSlow ? this.heldBytes : 0;
  }
  onClose(callback: () => void): void {
    this.#closed.push(callback);
  }
}

function onNode() {
  const clock = new FakeClock();
  return { clock, readers: new EventReaders({ clock, random: () => 0, log: new QuietLog() }) };
}

/** Opens a stream whose pages the test answers. */
async function byHand(pages: readonly string[], { clock, readers } = onNode(), tenantId = 'one') {
  const asked: string[] = [];
  let counted = 0;
  const page = (cursor: string, { isCounted = false } = {}): Promise<OwnerReply> => {
    asked.push(cursor);
    if (isCounted) counted += 1;
    const items = pages[asked.length - 1];
    if (items === undefined) return new Promise(() => undefined);
    const body = JSON.stringify({ data: { items: JSON.parse(items), nextCursor: String(asked.length) } });
    return Promise.resolve({
      reply: { status: 200, contentType: '', headers: '', body },
      keyId: 'key',
    });
  };
  const { reply } = readers.open(await page('first'), { tenantId, next: page });
  const reader = new Slow();
  return { clock, readers, asked, reader, counted: () => counted, start: () => reply.stream?.(reader) };
}

test('a node has 10,000 streams; one more is refused, and opens once another has ended', () => {
  const { readers } = onNode();
  const body = JSON.stringify({ data: { items: [], nextCursor: START } });
  const first = { reply: { status: 200, contentType: '', headers: '', body }, keyId: 'key' };
  const open = (tenantId: string) =>
    readers.open(first, { tenantId, next: () => new Promise(() => undefined) }).reply;
  const opened: Slow[] = [];
  for (let index = 0; index < 10_000; index += 1) {
    const reader = new Slow();
    open(`tenant ${index % 40}`).stream?.(reader);
    opened.push(reader);
  }
  assert.equal(readers.count, 10_000);
  const { status, body: refusal, headers } = open('another tenant');
  const { error } = JSON.parse(String(refusal));
  assert.deepEqual(
    [status, error.code, error.message, headers.includes('Retry-After')],
    [503, 'OVERLOADED', 'Too many event streams are open; try again shortly.', true],
  );
  opened[0]?.end();
  assert.equal(open('another tenant').status, 200);
});

test('a reader that lags keeps one page in memory, and is disconnected after half a minute', async () => {
  const page = JSON.stringify([{ id: '1', type: 'x' }]);
  const { clock, readers, asked, reader, start } = await byHand([page, page, page]);
  reader.isSlow = true;
  start();
  await clock.advance(20_000);
  assert.deepEqual(asked, ['first']);
  reader.isSlow = false;
  await clock.advance(1_000);
  assert.deepEqual(asked, ['first', '1', '2', '3']);
  assert.equal(readers.count, 1);
  reader.end();
  assert.equal(readers.count, 0);

  const stuck = await byHand([page]);
  stuck.reader.isSlow = true;
  stuck.start();
  await stuck.clock.advance(31_000);
  assert.deepEqual([stuck.reader.ended, stuck.readers.count, stuck.asked.length], [true, 0, 1]);
});

test('an owner that answers early is asked once a second, and the reader sees a sign of life', async () => {
  const { clock, asked, reader, start } = await byHand(Array.from({ length: 100 }, () => '[]'));
  start();
  await clock.advance(10_500);
  assert.ok(asked.length <= 14, `${asked.length} questions`);
  assert.equal(reader.received.match(/still here/g)?.length, 2);
});

test('each hundred events after the first page count as a call', async () => {
  const page = (count: number) =>
    JSON.stringify(Array.from({ length: count }, () => ({ id: '1', type: 'x' })));
  const { counted, asked, start, clock } = await byHand([100, 100, 100, 60, 60, 60].map(page));
  start();
  await clock.advance(1_000);
  // Behind the first page 380 events came.
  assert.deepEqual([asked.length, counted()], [7, 3]);
});

test('a stream whose key has used up its limit waits, and misses nothing', async () => {
  const clock = new FakeClock();
  const readers = new EventReaders({ clock, random: () => 0, log: new QuietLog() });
  const items = JSON.stringify(Array.from({ length: 100 }, () => ({ id: '1', type: 'x' })));
  const given = (nextCursor: string): OwnerReply => {
    const body = `{"data":{"items":${items},"nextCursor":"${nextCursor}"}}`;
    return { reply: { status: 200, contentType: '', headers: '', body }, keyId: 'key' };
  };
  const limited = { error: { code: 'RATE_LIMITED', message: '', retryAfter: 7 } };
  const asked: string[] = [];
  let isLimited = true;
  const { reply } = readers.open(given('1'), {
    tenantId: 'one',
    async next(cursor, { isCounted }) {
      asked.push(`${cursor} ${isCounted}`);
      if (isCounted && isLimited) {
        return {
          reply: { status: 429, contentType: '', headers: '', body: JSON.stringify(limited) },
          keyId: 'key',
        };
      }
      return asked.length > 5 ? new Promise<never>(() => undefined) : given(String(asked.length + 1));
    },
  });
  const reader = new Slow();
  reply.stream?.(reader);
  await clock.advance(6_000);
  assert.deepEqual(asked, ['1 false', '2 true']);
  isLimited = false;
  await clock.advance(2_000);
  assert.deepEqual(asked.slice(2), ['2 true', '4 true', '5 true', '6 true']);
  assert.equal(reader.ended, false);
});

test('a stream whose next page fails by a defect is broken off, leaves its wait, and has a line in the log', async () => {
  const log = new QuietLog();
  const readers = new EventReaders({ clock: new FakeClock(), random: () => 0, log });
  const body = JSON.stringify({ data: { items: [], nextCursor: START } });
  const page = { reply: { status: 200, contentType: '', headers: '', body }, keyId: 'key' };
  const woken = deferred<() => void>();
  let leaves = 0;
  const wait: CallWait = {
    whenWoken: (callback, listener) => woken.resolve(() => callback(listener)),
    end: () => undefined,
    leave() {
      leaves += 1;
    },
  };
  const { reply } = readers.open(page, {
    tenantId: 'one',
    next: async (_cursor, { wait: waitBefore }) => {
      if (waitBefore === undefined) return { ...page, wait };
      throw new Error('a defect');
    },
  });
  const reader = new Slow();
  reply.stream?.(reader);
  const closed = new Promise<void>((resolve) => reader.onClose(resolve));
  (await woken.promise)();
  await closed;
  assert.deepEqual([reader.ended, readers.count, leaves], [true, 0, 1]);
  assert.deepEqual(log.errors, ['a stream of events was broken off']);
});

for (const [title, tenants, mostMiB] of [
  ['a tenant', 1, 4],
  ['many tenants', 17, 64],
] as const) {
  test(`readers of ${title} that leave over ${mostMiB} MiB unread are disconnected, and others stay`, async () => {
    const node = onNode();
    const page = JSON.stringify([{ id: '1', type: 'x' }]);
    const streams = await Promise.all(
      Array.from({ length: 64 * tenants + 36 }, (_, index) =>
        byHand([page], node, `tenant ${index % tenants}`),
      ),
    );
    for (const { reader, start } of streams) {
      reader.isSlow = true;
      reader.heldBytes = 64 * 1024;
      start();
    }
    const staying = mostMiB * 16;
    assert.equal(streams.filter(({ reader }) => reader.ended).length, streams.length - staying);
    assert.deepEqual([node.readers.count, node.readers.unreadBytes], [staying, mostMiB * 1024 ** 2]);
    for (const { reader } of streams) reader.isSlow = false;
    await node.clock.advance(1_000);
    assert.deepEqual([node.readers.count, node.readers.unreadBytes], [staying, 0]);
  });
}
