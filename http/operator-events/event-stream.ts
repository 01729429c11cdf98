import type { Clock } from '../../runtime/clock.ts';
import { headerLines, type ReplyStream, type ReplyValue } from '../contract/exchange.ts';
import { EventLog, type LoggedEvent } from './event-log.ts';
import type { FleetEvents } from './fleet-events.ts';

/** A comment this often keeps proxies, and the listener's own idle limit of ten seconds, from closing the stream. */
const HEARTBEAT_MS = 5_000;
/** Most bytes that a reader may leave unread. One that lags further is disconnected, and returns with its last id. */
const MOST_BUFFERED_BYTES = 1_048_576;

/** Server-sent events for operators (the HTML standard: Server-sent events), numbered so that a reader can come back. */
export interface EventStream {
  /**
   * Returns the reply that stays open. `lastEventId` is the last event that the reader got, here or at another node.
   */
  open(lastEventId: string): ReplyValue;
  /** Ends all open streams. */
  close(): void;
}

/** Streams the events of all nodes. `epoch` identifies this process: letters and digits. */
export function createEventStream(
  feed: Pick<FleetEvents, 'subscribe' | 'watch' | 'silentNodes'>,
  { clock, epoch }: { readonly clock: Clock; readonly epoch: string },
): EventStream {
  const log = new EventLog(epoch);
  const readers = new Set<ReplyStream>();

  const unsubscribe = feed.subscribe((event) => {
    const number = log.append(event);
    if (readers.size === 0) return;
    const text = writeEvent(log.logged(number, event));
    for (const reader of readers) send(reader, text);
  });

  function send(reader: ReplyStream, text: string): void {
    if (reader.bufferedBytes() > MOST_BUFFERED_BYTES) reader.end();
    else reader.write(text);
  }

  function heartbeat(reader: ReplyStream): void {
    clock.after(HEARTBEAT_MS, () => {
      if (!readers.has(reader)) return;
      send(reader, ': still here\n\n');
      heartbeat(reader);
    });
  }

  /** Returns the first part of a stream: the reader's position, the events it missed, and the silent nodes. */
  function greeting(lastEventId: string): string {
    const timestamp = new Date(clock.wallMs()).toISOString();
    const silentLines = feed
      .silentNodes()
      .map((nodeId) => data({ type: 'node', at: timestamp, data: { nodeId, standing: 'silent' } }));
    const { events, missed } = lastEventId === '' ? { events: [], missed: 0 } : log.after(lastEventId);
    const lostLines = missed > 0 ? [data({ type: 'missed', at: timestamp, data: { count: missed } })] : [];
    // A reader that got no event yet also returns with its position.
    const place = events.length > 0 ? [] : [`id: ${log.end(clock.wallMs())}\n\n`];
    return ['retry: 1000\n\n', ...silentLines, ...lostLines, ...events.map(writeEvent), ...place].join('');
  }

  return {
    open(lastEventId) {
      return {
        status: 200,
        contentType: 'text/event-stream',
        headers: headerLines({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }),
        body: '',
        stream(reader) {
          reader.write(greeting(lastEventId));
          readers.add(reader);
          const leave = feed.watch(EventLog.timeOf(lastEventId) ?? clock.wallMs());
          reader.onClose(() => {
            readers.delete(reader);
            leave();
          });
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

function writeEvent({ id, event }: LoggedEvent): string {
  return `id: ${id}\n${data(event)}`;
}

function data(event: LoggedEvent['event']): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ type: event.type, at: event.at, ...event.data })}\n\n`;
}
