import assert from 'node:assert/strict';
import { pause, until } from '../../testbed/waiting.ts';
import type { ApiClient } from './api-client.ts';

/** An event as a reader saw it. */
interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Somebody who reads a tenant's events behind a cursor, until it is stopped. */
export interface FeedReader {
  readonly seen: readonly SeenEvent[];
  stop(): Promise<void>;
}

/** The place before every event. */
export const FEED_START = '0'.repeat(24);
/** The types of the end of a message. Receipts of its recipient come after it. */
const END_TYPES: ReadonlySet<string> = new Set(['message.sent', 'message.failed', 'message.rejected']);
/** Between two questions of which the first failed. */
const AGAIN_MS = 200;

/** Polls on and on, as a client would: the same cursor again after every failure. */
export function startReader(
  api: Pick<ApiClient, 'get'>,
  { from, waitMs }: { readonly from: string; readonly waitMs: number },
): FeedReader {
  const seenEvents: SeenEvent[] = [];
  let cursor = from;
  const read = async (): Promise<void> => {
    const { data, status } = await api.get(`/events?limit=5&waitMs=${waitMs}&cursor=${cursor}`);
    assert.ok(status === 200 || status === 429 || status >= 500, `status ${status}`);
    if (status !== 200) throw new Error('away');
    seenEvents.push(...(data.items as SeenEvent[]));
    cursor = String(data.nextCursor);
  };
  return { seen: seenEvents, stop: repeating(read, false) };
}

/** Reads the stream on and on, as a client would: with the id it saw last after every connection that broke. */
export function startStream(api: Pick<ApiClient, 'stream'>, from: string): FeedReader {
  const seenEvents: SeenEvent[] = [];
  let place = from;
  const read = async (signal: AbortSignal): Promise<void> => {
    const { body, status } = await api.stream('/events', { lastEventId: place, signal });
    assert.ok(status === 200 || status >= 500, `status ${status}`);
    if (status !== 200 || body === null) throw new Error('away');
    let rest = '';
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^data: (.+)$/m.exec(block)?.[1];
        if (data !== undefined) seenEvents.push(JSON.parse(data) as SeenEvent);
        place = /^id: (.+)$/m.exec(block)?.[1] ?? place;
      }
    }
  };
  return { seen: seenEvents, stop: repeating(read, true) };
}

/** Reads again and again until the returned function is called. `pausesAlways`: not only after a failure. */
function repeating(read: (signal: AbortSignal) => Promise<void>, pausesAlways: boolean): () => Promise<void> {
  const end = new AbortController();
  const running = (async () => {
    while (!end.signal.aborted) {
      const failure: unknown = await read(end.signal).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (failure instanceof assert.AssertionError) throw failure;
      if (pausesAlways || failure !== undefined) await pause(AGAIN_MS);
    }
  })();
  // A failure reaches the caller that stops it. Until then it must not end the process.
  running.catch(() => undefined);
  return () => {
    end.abort();
    return running;
  };
}

/**
 * Waits until a reader saw the end of each message, and stops it. Throws unless it saw each event once, in the order of
 * cursors, and each end once. `ends`: the type of the end's event, by the message's id.
 */
export async function sawEachEndOnce(
  { seen, stop }: FeedReader,
  ends: ReadonlyMap<string, string>,
): Promise<void> {
  await until('the reader has seen every end', async () =>
    [...ends.keys()].every((id) => seen.some(({ data }) => data.id === id)),
  ).catch(() => undefined);
  await stop();
  const cursors = seen.map(({ id }) => id);
  assert.deepEqual(cursors, [...new Set(cursors)].toSorted(), 'each event once, in order');
  const told = seen.filter(({ type }) => END_TYPES.has(type));
  assert.equal(new Set(told.map(({ data }) => data.id)).size, told.length, 'each end once');
  const types = new Map(told.map(({ type, data }) => [String(data.id), type]));
  for (const [id, type] of ends) assert.equal(types.get(id), type, `the end of ${id}`);
}
