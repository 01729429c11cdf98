import type { Clock } from '../../runtime/clock.ts';
import { headerLines, type ReplyStream, type ReplyValue } from '../contract/exchange.ts';
import { EventLog, type LoggedEvent } from './event-log.ts';
import type { FleetEvents } from './fleet-events.ts';
import type { OperatorEvent } from './operator-event.ts';

/** A comment this often keeps proxies, and the listener's own idle limit of ten seconds, from closing the stream. */
const HEARTBEAT_MS = 5_000;
/** Most bytes that a reader may leave unread. One that lags further is disconnected, and returns with its last id. */
const MOST_BUFFERED_BYTES = 1_048_576;

/**
 * Streams the events of all nodes to operators, as server-sent events (the HTML standard: Server-sent events). They are
 * numbered so that a reader can come back.
 */
export class EventStream {
  readonly #feed: Pick<FleetEvents, 'subscribe' | 'watch' | 'silentNodes'>;
  readonly #clock: Clock;
  readonly #log: EventLog;
  readonly #readers = new Set<ReplyStream>();
  readonly #unsubscribe: () => void;
  #isClosed = false;

  /** `epoch` identifies this process: letters and digits. */
  constructor(
    feed: Pick<FleetEvents, 'subscribe' | 'watch' | 'silentNodes'>,
    { clock, epoch }: { readonly clock: Clock; readonly epoch: string },
  ) {
    this.#feed = feed;
    this.#clock = clock;
    this.#log = new EventLog(epoch);
    this.#unsubscribe = feed.subscribe((event) => this.#publish(event));
  }

  /**
   * Returns the reply that stays open. `lastEventId` is the last event that the reader got, here or at another node.
   */
  open(lastEventId: string): ReplyValue {
    return {
      status: 200,
      contentType: 'text/event-stream',
      headers: headerLines({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' }),
      body: '',
      stream: (reader) => this.#enter(reader, lastEventId),
    };
  }

  /** Ends all streams, present and future ones. Each reader comes back with the position of its last event. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  #publish(event: OperatorEvent): void {
    const number = this.#log.append(event);
    if (this.#readers.size === 0) return;
    const text = writeEvent(this.#log.logged(number, event));
    for (const reader of this.#readers) send(reader, text);
  }

  #enter(reader: ReplyStream, lastEventId: string): void {
    reader.write(this.#greeting(lastEventId));
    // A call on a kept connection may come after the close.
    if (this.#isClosed) {
      reader.end();
      return;
    }
    this.#readers.add(reader);
    const leave = this.#feed.watch(EventLog.timeOf(lastEventId) ?? this.#clock.wallMs());
    reader.onClose(() => {
      this.#readers.delete(reader);
      leave();
    });
    this.#heartbeat(reader);
  }

  #heartbeat(reader: ReplyStream): void {
    this.#clock.after(HEARTBEAT_MS, () => {
      if (!this.#readers.has(reader)) return;
      send(reader, ': still here\n\n');
      this.#heartbeat(reader);
    });
  }

  /** Returns the first part of a stream: the reader's position, the events it missed, and the silent nodes. */
  #greeting(lastEventId: string): string {
    const nowMs = this.#clock.wallMs();
    const at = new Date(nowMs).toISOString();
    const silentLines = this.#feed
      .silentNodes()
      .map((nodeId) => data({ type: 'node', at, data: { nodeId, standing: 'silent' } }));
    const { events, missed } = lastEventId === '' ? { events: [], missed: 0 } : this.#log.after(lastEventId);
    const lostLines = missed > 0 ? [data({ type: 'missed', at, data: { count: missed } })] : [];
    // A reader that got no event yet also returns with its position.
    const place = events.length > 0 ? [] : [`id: ${this.#log.end(nowMs)}\n\n`];
    return ['retry: 1000\n\n', ...silentLines, ...lostLines, ...events.map(writeEvent), ...place].join('');
  }
}

function send(reader: ReplyStream, text: string): void {
  if (reader.bufferedBytes() > MOST_BUFFERED_BYTES) reader.end();
  else reader.write(text);
}

function writeEvent({ id, event }: LoggedEvent): string {
  return `id: ${id}\n${data(event)}`;
}

function data(event: LoggedEvent['event']): string {
  return `event: ${event.type}\ndata: ${JSON.stringify({ type: event.type, at: event.at, ...event.data })}\n\n`;
}
