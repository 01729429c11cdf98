/** Events by an open reply: lost connections, silence, what ends a feed, and a service without streams. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { ApiError } from '../../client/src/api-error.ts';
import { messagingClient } from '../../client/src/messaging-client.ts';
import { eventAccount } from '../http/event-account.ts';
import { startService, targetOf } from '../http/service-fixture.ts';
import { cutOff, fakeApi, inTurn, ok, refused, type SeenCall, silent } from './fake-api.ts';

const id = (number: number): string => String(number).padStart(24, '0');
const event = (number: number): object => ({
  id: id(number),
  type: 'message.sent',
  timestamp: '2026-11-21T12:00:00.000Z',
  data: { id: `m${number}`, text: 'für' },
});
const block = (number: number): string =>
  `id: ${id(number)}\nevent: message.sent\ndata: ${JSON.stringify(event(number))}\n\n`;

/** An open reply: these pieces, then as `end` says. */
function streamed(pieces: readonly (string | Uint8Array)[], end: 'cut off' | 'ended' | 'open') {
  return ({ signal }: SeenCall): Response => {
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => signal.addEventListener('abort', () => stream.error(signal.reason), { once: true }),
      pull(stream) {
        const [piece, ...rest] = pieces;
        pieces = rest;
        if (piece !== undefined)
          stream.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
        else if (end === 'ended') stream.close();
        else if (end === 'cut off') stream.error(new TypeError('terminated'));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

/** Reads until the feed ends. */
function follow(events: AsyncIterable<{ readonly id: string }>) {
  const seen: string[] = [];
  const state: { seen: string[]; failure: unknown } = { seen, failure: undefined };
  void (async () => {
    for await (const each of events) seen.push(each.id);
  })().catch((error: unknown) => {
    state.failure = error;
  });
  return state;
}

test('a stream goes on behind its last event after each lost connection, and gives each once, in order', async () => {
  const bytes = new TextEncoder().encode(block(3));
  const inSharpU = bytes.indexOf(0xc3) + 1;
  const fake = fakeApi(
    inTurn(
      streamed(['retry: 1500\n\n', `id: ${id(0)}\n\n`, block(1) + block(2).slice(0, 60)], 'cut off'),
      streamed(
        [block(2), bytes.subarray(0, inSharpU), bytes.subarray(inSharpU), ': still here\n\n'],
        'ended',
      ),
      cutOff,
      () => refused(503, 'OVERLOADED', { retryAfter: 2 }),
      streamed([block(4).replaceAll('\n', '\r\n')], 'open'),
    ),
  );
  const feed = fake.api.followEvents({ stream: true, types: ['message.sent'], shop: 's' });
  const reading = follow(feed);
  await fake.clock.until(() => reading.seen.length === 4);
  assert.deepEqual(reading.seen, [1, 2, 3, 4].map(id));
  assert.equal(feed.cursor, id(4));
  assert.deepEqual(
    fake.calls.map(({ headers }) => headers.get('last-event-id')),
    [null, id(1), id(3), id(3), id(3)],
  );
  assert.ok(fake.calls.every(({ headers }) => headers.get('accept') === 'text/event-stream'));
  assert.ok(fake.calls.every(({ url }) => url.search === '?types=message.sent&shop=s&limit=100'));
  assert.ok(
    fake.gaps().every((gapMs) => gapMs >= 1_500),
    'the stream said how long to stay away',
  );
});

test('a stream that is silent for longer than a try may take is begun anew', async () => {
  const fake = fakeApi(inTurn(streamed([block(1)], 'open'), silent, streamed([block(2)], 'open')));
  const reading = follow(fake.api.followEvents({ stream: true, cursor: id(0) }));
  await fake.clock.until(() => reading.seen.length === 2);
  assert.deepEqual(reading.seen, [id(1), id(2)]);
  assert.deepEqual(
    fake.calls.map(({ headers }) => headers.get('last-event-id')),
    [id(0), id(1), id(1)],
  );
  assert.ok(fake.gaps().every((gapMs) => gapMs >= 20_000 && gapMs < 21_000));
});

test('a stream ends with its signal, and leaves no timer and no connection', async () => {
  const fake = fakeApi(streamed([block(1)], 'open'));
  const end = new AbortController();
  const reading = follow(fake.api.followEvents({ stream: true, cursor: id(0), signal: end.signal }));
  await fake.clock.until(() => reading.seen.length === 1);
  end.abort(new Error('enough'));
  await fake.clock.until(() => reading.failure !== undefined);
  assert.match(String(reading.failure), /^Error: enough$/);
  assert.deepEqual([fake.timers(), fake.calls.length], [0, 1]);
  const left = fakeApi(streamed([block(1)], 'open'));
  for await (const _ of left.api.followEvents({ stream: true, cursor: id(0) })) break;
  assert.ok(left.calls[0]?.signal.aborted);
  assert.equal(left.timers(), 0);
});

test('a stream rejects with what the service ends it for, refuses it for, and when it is away for too long', async () => {
  const last = `event: end\ndata: ${JSON.stringify({ code: 'TENANT_INACTIVE', message: 'it is' })}\n\n`;
  const ended = fakeApi(streamed([block(1), last], 'ended'));
  const old = fakeApi(() => refused(422, 'VALIDATION_ERROR', { nextCursor: id(9) }));
  const away = fakeApi(cutOff);
  for (const [fake, code] of [
    [ended, 'TENANT_INACTIVE'],
    [old, 'VALIDATION_ERROR'],
    [away, 'NO_ANSWER'],
  ] as const) {
    const begunMs = fake.clock.monotonicMs();
    const reading = follow(fake.api.followEvents({ stream: true, cursor: id(0), timeoutMs: 90_000 }));
    await fake.clock.until(() => reading.failure !== undefined, 120_000);
    assert.equal((reading.failure as ApiError).code, code);
    const tookMs = fake.clock.monotonicMs() - begunMs;
    assert.ok(fake === away ? tookMs > 80_000 : fake.calls.length === 1);
  }
});

test('a service without streams is asked call after call', async () => {
  const fake = fakeApi(
    inTurn(
      () => ok({ items: [event(1)], nextCursor: id(1) }),
      () => ok({ items: [event(1), event(2)], nextCursor: id(2) }),
      silent,
    ),
  );
  const reading = follow(fake.api.followEvents({ stream: true, cursor: id(0) }));
  await fake.clock.until(() => fake.calls.length === 3);
  assert.deepEqual(reading.seen, [id(1), id(2)], 'the first answer is asked for again');
  assert.deepEqual(
    fake.calls.map(({ url }) => url.searchParams.get('cursor')),
    [null, id(0), id(2)],
  );
});

test('through connections that are killed, the service gives each event once, in order', async (context) => {
  const service = await startService();
  context.after(() => service.stop());
  const target = await targetOf(service);
  context.after(() => target.close());
  const { owner, store } = await eventAccount(service, target);
  const { port } = new URL(service.apiUrl);
  const open = new Set<Socket>();
  let connections = 0;
  // Passes each connection's first 9,000 bytes of replies on, some events and a piece of one, and kills it.
  const proxy = createServer((caller) => {
    connections += 1;
    let left = 9_000;
    const upstream = connect(Number(port), '127.0.0.1');
    for (const socket of [caller, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        caller.destroy();
        upstream.destroy();
      });
    }
    caller.pipe(upstream);
    upstream.on('data', (bytes) => {
      const passed = bytes.subarray(0, left);
      left -= passed.length;
      caller.write(passed, () => {
        if (left === 0) caller.destroy();
      });
    });
  });
  context.after(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port: passing } = proxy.address() as AddressInfo;
  const api = messagingClient({ baseUrl: `http://127.0.0.1:${passing}/api/v1`, apiKey: owner.key });
  const end = new AbortController();
  await store(60);
  const phones: number[] = [];
  const ids: string[] = [];
  const feed = api.followEvents({
    stream: true,
    cursor: id(0),
    types: ['recipient.opted_out'],
    signal: end.signal,
  });
  for await (const each of feed) {
    ids.push(each.id);
    phones.push(Number((each.data as { readonly phone: string }).phone));
    if (phones.length === 60) await store(60);
    if (phones.length === 120) break;
  }
  assert.deepEqual(
    phones,
    Array.from({ length: 120 }, (_, index) => index),
  );
  assert.deepEqual(ids, ids.toSorted());
  assert.ok(connections > 2, `${connections} connections`);
});
