import type { Clock } from '../runtime/clock.ts';
import type { EventFeed } from './event-feed.ts';
import { headerLines, type ReplyStream, type ReplyValue } from './exchange.ts';

/** How many events a reader that lost its connection can catch up on. */
const KEPT_EVENTS = 1_000;
/** A comment this often keeps proxies, and the front's own idle limit of ten seconds, from closing the stream. */
const HEARTBEAT_MS = 5_000;
/** A reader that lags this far behind is let go; it comes back with its last id. */
const MAX_BUFFERED_BYTES = 1_048_576;

/** Server-sent events for operators (HTML: Server-sent events), numbered so that a reader can come back. */
export interface EventStream {
  /** The reply that stays open; `lastEventId` is what the reader saw last. */
  open(lastEventId: string): ReplyValue;
  /** Ends all open streams. */
  close(): void;
}

/** Numbers carry the start of this process, so that a reader of an earlier one gets everything kept, not nothing. */
export function createEventStream(feed: EventFeed, clock: Clock): EventStream {
  const epoch = clock.wallMs().toString(36);
  const kept: { readonly number: number; readonly text: string }[] = [];
  const readers = new Set<ReplyStream>();
  let number = 0;

  const unsubscribe = feed.subscribe((event) => {
    number += 1;
    const data = JSON.stringify({ type: event.type, at: event.at, ...event.data });
    const text = `id: ${epoch}-${number}\nevent: ${event.type}\ndata: ${data}\n\n`;
    kept.push({ number, text });
    if (kept.length > KEPT_EVENTS) kept.shift();
    for (const reader of readers) send(reader, text);
  });

  function send(reader: ReplyStream, text: string): void {
    if (reader.bufferedBytes() > MAX_BUFFERED_BYTES) reader.end();
    else reader.write(text);
  }

  function heartbeat(reader: ReplyStream): void {
    clock.after(HEARTBEAT_MS, () => {
      if (!readers.has(reader)) return;
      send(reader, ': still here\n\n');
      heartbeat(reader);
    });
  }

  function missed(lastEventId: string): string {
    if (lastEventId === '') return '';
    const [seenEpoch, seen] = lastEventId.split('-');
    const from = seenEpoch === epoch ? Number(seen) : 0;
    return kept
      .filter((event) => event.number > from)
      .map((event) => event.text)
      .join('');
  }

  return {
    open(lastEventId) {
      return {
        status: 200,
        contentType: 'text/event-stream',
        headers: headerLines({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }),
        body: '',
        stream(reader) {
          reader.write(`retry: 1000\n\n${missed(lastEventId)}`);
          readers.add(reader);
          reader.onClose(() => readers.delete(reader));
          heartbeat(reader);
        },
      };
    },
    close() {
      unsubscribe();
      for (const reader of readers) reader.end();
      readers.clear();
    },
  };
}
