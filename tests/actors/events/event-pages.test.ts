/** A page of events holds no more than 64 KiB of them, and the next one goes on behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EventServiceOptions, eventService } from '../../../actors/events/event-service.ts';
import { done } from '../../../actors/failure.ts';
import { EventWaiters } from '../../../actors/tenants/stored-events/event-waiters.ts';
import type { StreamEntry } from '../../../actors/tenants/stored-events/tenant-event.ts';
import { movedAwayFailure } from '../../../runtime/runtime-failure.ts';
import type { Read } from '../../../runtime/store.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { LineLog } from '../../testbed/line-log.ts';
import { confirmedReads } from './confirmed-reads.ts';

const tenantId = '66b1f0a2c3d4e5f607182906';
const START = '0'.repeat(24);
const PAGE_BYTES = 64 * 1024;

/** Returns events of messages with texts of these lengths, and counts the messages that are read. */
function eventsOf(texts: readonly number[], unreadable?: { readonly id: string; readonly error: Error }) {
  const log = new LineLog();
  const entries = texts.map(
    (_, index): StreamEntry => [`${index + 1}-0`, ['t', 'message.sent', 's', 'shop', 'd', String(index)]],
  );
  let read = 0;
  const answer = ([command, , from, , , count]: Read): unknown => {
    if (command === 'XREVRANGE') return entries.slice(-1);
    const behind = String(from).startsWith('(') ? Number(String(from).slice(1).split('-')[0]) : 0;
    return entries.slice(behind, behind + Number(count));
  };
  const events = eventService({
    store: confirmedReads(answer),
    inbound: { eventOf: async () => undefined },
    messages: {
      message: async (_tenantId: string, id: string) => {
        read += 1;
        if (id === unreadable?.id) throw unreadable.error;
        return done({ id, text: 'x'.repeat(texts[Number(id)] ?? 0) });
      },
    },
    waiters: new EventWaiters(new FakeClock()),
    log,
  } as unknown as EventServiceOptions);
  const page = async (cursor: string) => {
    const asked = { cursor, limit: 100, types: undefined, shopId: undefined, waitMs: 0, keyId: 'key' };
    const listedOutcome = await events.list(tenantId, asked);
    assert.ok(listedOutcome.ok);
    return listedOutcome.value;
  };
  return { page, read: () => read, log };
}

/** All pages until there are no more. */
async function pagesOf(texts: readonly number[]) {
  const { page, read } = eventsOf(texts);
  const pages: { id: string }[][] = [];
  let cursor = START;
  for (;;) {
    const { items, nextCursor } = await page(cursor);
    if (items.length === 0) return { pages, read: read() };
    pages.push(items.map(({ data }) => data as unknown as { id: string }));
    cursor = nextCursor;
  }
}

test('pages of large events are short, and give each event once', async () => {
  const texts = Array.from({ length: 250 }, (_, index) => (index % 3) * 3_000);
  const { pages, read } = await pagesOf(texts);
  const ids = pages.flat().map(({ id }) => Number(id));
  assert.deepEqual(
    ids,
    texts.map((_, index) => index),
  );
  for (const items of pages) assert.ok(Buffer.byteLength(JSON.stringify(items)) <= PAGE_BYTES);
  assert.ok(read < 2 * texts.length, `${read} messages were read`);
});

test('an event that is larger than a page comes alone', async () => {
  const { pages } = await pagesOf([10, 2 * PAGE_BYTES, 10, 10]);
  assert.deepEqual(
    pages.map((items) => items.length),
    [1, 1, 2],
  );
});

test('small events fill a page', async () => {
  const { pages } = await pagesOf(Array.from({ length: 150 }, () => 100));
  assert.deepEqual(
    pages.map((items) => items.length),
    [100, 50],
  );
});

test('an event that cannot be read is left out and logged, and the ones after it come', async () => {
  const unreadable = { id: '1', error: new SyntaxError('broken') };
  const { page, log } = eventsOf([1, 1, 1], unreadable);
  const { items, nextCursor } = await page(START);
  assert.deepEqual(
    items.map(({ data }) => (data as unknown as { id: string }).id),
    ['0', '2'],
  );
  assert.deepEqual((await page(nextCursor)).items, []);
  assert.deepEqual(
    log.lines.map(({ level, message }) => [level, message]),
    [['error', 'an event cannot be read']],
  );
});

test('an event that cannot be read now is not left out: the call fails', async () => {
  const { page } = eventsOf([1, 1], { id: '1', error: movedAwayFailure() });
  await assert.rejects(page(START), { code: 'SHARD_NOT_OWNED' });
});

test('inbound events that a key may not read are skipped a hundred at a time', async () => {
  const entries = Array.from(
    { length: 1_001 },
    (_, index): StreamEntry => [`${index + 1}-0`, ['t', 'message.received', 's', 'shop', 'd', 'x']],
  );
  let reads = 0;
  const answer = ([command, , from, , , count]: Read): unknown => {
    reads += 1;
    if (command === 'XREVRANGE') return entries.slice(-1);
    const behind = String(from).startsWith('(') ? Number(String(from).slice(1).split('-')[0]) : 0;
    return entries.slice(behind, behind + Number(count));
  };
  const { list } = eventService({
    store: confirmedReads(answer),
    waiters: new EventWaiters(new FakeClock()),
  } as unknown as EventServiceOptions);
  const query = { cursor: START, limit: 1, types: undefined, shopId: undefined, waitMs: 0, keyId: 'key' };
  const page = await list(tenantId, { ...query, hidesInbound: true });
  assert.deepEqual(page.ok && page.value.items, []);
  assert.ok(reads < 20, `${reads} reads`);
});
