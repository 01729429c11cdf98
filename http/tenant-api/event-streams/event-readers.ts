import { NO_ROOM_TO_WAIT } from '../../../actors/tenants/stored-events/event-waiters.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Counts } from '../../../runtime/counts.ts';
import { Deadlines } from '../../../runtime/deadlines.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Random } from '../../../runtime/random.ts';
import { errorReply } from '../../contract/envelope.ts';
import { headerLines, type ReplyStream } from '../../contract/exchange.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import { ReaderStream, type StreamSource } from './reader-stream.ts';

/** Most open streams at this node. Each costs a connection, at most one page, and a comment at intervals. */
const MOST_STREAMS = { tenant: 256, node: 10_000 } as const;
const TOO_MANY_STREAMS = {
  ...NO_ROOM_TO_WAIT,
  message: 'Too many event streams are open; try again shortly.',
};
/** A comment this often keeps proxies, and the listener's own idle limit of ten seconds, from closing a stream. */
const HEARTBEAT_MS = 5_000;
/** Streams whose comments are due within this time get them together, in milliseconds. */
const HEARTBEATS_TOGETHER_MS = 50;
/** Readers reconnect after a random time in this range. So the readers of a node that stops do not all come at once. */
const RETRY_MS = { from: 500, to: 2_000 };

/**
 * Sends tenants' events as server-sent events (the HTML standard: Server-sent events). The node that took the call asks
 * the tenant's owner for page after page, so a stream survives moves of its tenant. Key, address and tenant are checked
 * with each page. The next page is requested after the reader took the last one, so a slow reader costs one page.
 */
export class EventReaders {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #open = new Map<string, Set<ReaderStream>>();
  readonly #heartbeats: Deadlines<ReaderStream>;
  /** Bytes that the readers of each tenant have not taken. */
  readonly #unread = new Counts();
  #count = 0;
  #isClosed = false;

  constructor(options: { readonly clock: Clock; readonly random: Random; readonly log: Logger }) {
    const { clock, random, log } = options;
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
    this.#heartbeats = new Deadlines(clock, HEARTBEATS_TOGETHER_MS, (stream) => {
      if (stream.beat()) stream.due = this.#heartbeats.add(stream, HEARTBEAT_MS);
    });
  }

  /** Streams that are open now. */
  get count(): number {
    return this.#count;
  }

  /** Bytes that were written to open streams and that their readers have not taken. */
  get unreadBytes(): number {
    return this.#unread.total;
  }

  /** Ends all streams, present and future ones. Each reader reconnects with the position of its last event. */
  close(): void {
    this.#isClosed = true;
    for (const ofTenant of this.#open.values()) for (const stream of ofTenant) stream.end();
  }

  /** Returns the reply that stays open and begins with the first page. If that page was refused, returns its reply. */
  open(first: OwnerReply, source: StreamSource): OwnerReply {
    const { reply, keyId } = first;
    if (reply.status !== 200) return first;
    // Check this after the page was admitted and counted, so that the refusal has the caller's rate headers like every
    // reply.
    if (this.#isFull(source.tenantId)) return { reply: errorReply(TOO_MANY_STREAMS, reply.headers), keyId };
    const { from, to } = RETRY_MS;
    const retryMs = Math.round(from + (to - from) * this.#random());
    const stream = (reader: ReplyStream): void => {
      const options = { clock: this.#clock, log: this.#log, unreadBytes: this.#unread };
      const stream = new ReaderStream(reader, source, options);
      this.#enter(source.tenantId, stream, reader);
      stream.begin(`retry: ${retryMs}\n\n`, reply);
    };
    const headers = reply.headers + headerLines({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    return { reply: { status: 200, contentType: 'text/event-stream', headers, body: '', stream }, keyId };
  }

  #isFull(tenantId: string): boolean {
    const ofTenant = this.#open.get(tenantId)?.size ?? 0;
    return this.#isClosed || ofTenant >= MOST_STREAMS.tenant || this.#count >= MOST_STREAMS.node;
  }

  #enter(tenantId: string, stream: ReaderStream, reader: ReplyStream): void {
    const ofTenant = this.#open.get(tenantId) ?? new Set();
    this.#open.set(tenantId, ofTenant.add(stream));
    this.#count += 1;
    stream.due = this.#heartbeats.add(stream, HEARTBEAT_MS);
    reader.onClose(() => {
      this.#count -= 1;
      ofTenant.delete(stream);
      if (ofTenant.size === 0 && this.#open.get(tenantId) === ofTenant) this.#open.delete(tenantId);
      stream.closed();
    });
    // The node may have stopped since the reply was made.
    if (this.#isClosed) stream.end();
  }
}
