import { NO_ROOM_TO_WAIT } from '../../actors/tenants/event-waiters.ts';
import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { Counts } from '../../runtime/counts.ts';
import { Deadlines } from '../../runtime/deadlines.ts';
import type { Random } from '../../runtime/random.ts';
import { errorCode, errorReply } from '../contract/envelope.ts';
import { type HeaderLines, headerLines, type ReplyStream, type ReplyValue } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { OwnerReply } from '../owner/serve-as-owner.ts';

/** Most open streams at this node. Each costs a connection, at most one page, and a comment at intervals. */
const MOST_STREAMS = { tenant: 256, node: 10_000 } as const;
/** A comment this often keeps proxies, and the listener's own idle limit of ten seconds, from closing a stream. */
const HEARTBEAT_MS = 5_000;
/** Streams whose comments are due within this time get them together, in milliseconds. */
const HEARTBEATS_TOGETHER_MS = 50;
/**
 * Longest wait of one request to the owner, in milliseconds. If the owner is killed meanwhile, the reader notices only
 * then.
 */
const WAIT_MS = 15_000;
/** Pause after a request that was answered at once without events, or not at all. */
const AGAIN_MS = 1_000;
/** Pause after a request for which the owner had no slot to wait. */
const NO_ROOM_MS = NO_ROOM_TO_WAIT.retryAfterSeconds * 1_000;
/** Interval at which a slow reader is checked, and most time it may take for the bytes it was sent. */
const LAG_LOOK_MS = 250;
const MOST_LAG_MS = 30_000;
/**
 * The most bytes that readers may leave unread; one that lags has at most a page. A reader that lags further is
 * disconnected.
 */
const MOST_UNREAD_BYTES = { tenant: 4 * 1024 ** 2, node: 64 * 1024 ** 2 } as const;
/** The number of events after the first page that count as a call. */
const EVENTS_A_CALL = 100;
/** Longest pause of a stream whose key has used up its limit. Milliseconds. */
const MOST_LIMITED_MS = 15_000;
/** The time over which readers of a node that stops come back. */
const RETRY_MS = { from: 500, to: 2_000 };

/** A reader of a tenant's events as a stream. */
export interface StreamAsked {
  readonly tenantId: string;
  /**
   * Asks the tenant's present owner for the events after a position. With a wait, it asks for the events that ended it.
   * With `isCounted` the request counts as a call. Never rejects.
   */
  next(
    cursor: string,
    asked: { readonly waitMs: number; readonly wait: CallWait | undefined; readonly isCounted: boolean },
  ): Promise<OwnerReply>;
}

/** The fields of a page that are read. Each item is passed on unchanged. */
interface Page {
  readonly items: readonly { readonly id: string; readonly type: string }[];
  readonly nextCursor: string;
}

/**
 * Sends tenants' events as server-sent events (the HTML standard: Server-sent events). The node that took the call asks
 * the tenant's owner for page after page, so a stream survives moves of its tenant. Key, address and tenant are checked
 * with each page. The next page is requested after the reader took the last one, so a slow reader costs one page.
 */
export class EventReaders {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #open = new Map<string, Set<Following>>();
  readonly #heartbeats: Deadlines<Following>;
  /** Bytes that the readers of each tenant have not taken. */
  readonly #unread = new Counts();
  #count = 0;
  #closed = false;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
    this.#heartbeats = new Deadlines(clock, HEARTBEATS_TOGETHER_MS, (following) => {
      if (following.beat()) following.due = this.#heartbeats.add(following, HEARTBEAT_MS);
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

  /** Ends all streams, present and future ones. Each reader returns with the position of its last event. */
  close(): void {
    this.#closed = true;
    for (const ofTenant of this.#open.values()) for (const following of ofTenant) following.end();
  }

  /** Returns the reply that stays open and begins with the first page. If that page was refused, returns its reply. */
  open(first: OwnerReply, asked: StreamAsked): OwnerReply {
    const { reply, keyId } = first;
    if (reply.status !== 200) return first;
    // Check this after the page was admitted and counted, so that the refusal has the caller's rate headers like every
    // reply.
    if (this.#isFull(asked.tenantId)) return { reply: refusal(reply.headers), keyId };
    const { from, to } = RETRY_MS;
    const retryMs = Math.round(from + (to - from) * this.#random());
    const stream = (reader: ReplyStream): void => {
      const following = new Following(reader, asked, { clock: this.#clock, unread: this.#unread });
      this.#enter(asked.tenantId, following, reader);
      following.begin(`retry: ${retryMs}\n\n`, pageOf(reply));
    };
    const headers = reply.headers + headerLines({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
    return { reply: { status: 200, contentType: 'text/event-stream', headers, body: '', stream }, keyId };
  }

  #isFull(tenantId: string): boolean {
    const ofTenant = this.#open.get(tenantId)?.size ?? 0;
    return this.#closed || ofTenant >= MOST_STREAMS.tenant || this.#count >= MOST_STREAMS.node;
  }

  #enter(tenantId: string, following: Following, reader: ReplyStream): void {
    const ofTenant = this.#open.get(tenantId) ?? new Set();
    this.#open.set(tenantId, ofTenant.add(following));
    this.#count += 1;
    following.due = this.#heartbeats.add(following, HEARTBEAT_MS);
    reader.onClose(() => {
      this.#count -= 1;
      ofTenant.delete(following);
      if (ofTenant.size === 0 && this.#open.get(tenantId) === ofTenant) this.#open.delete(tenantId);
      following.closed();
    });
    // Closed between the reply and now.
    if (this.#closed) following.end();
  }
}

function refusal(rate: HeaderLines): ReplyValue {
  const message = 'Too many event streams are open; try again shortly.';
  return errorReply({ ...NO_ROOM_TO_WAIT, message }, rate);
}

/** One open stream. Between two pages, no other data of it is kept. */
class Following {
  readonly #reader: ReplyStream;
  readonly #asked: StreamAsked;
  readonly #clock: Clock;
  readonly #unread: Counts;
  /** Bytes that are counted as unread. */
  #unreadBytes = 0;
  /** Events after the first page that are not yet counted as a call. */
  #uncounted = 0;
  #cursor = '';
  /** The wait of the requested page; undefined if it does not wait yet. */
  #wait: CallWait | undefined;
  #askedMs = 0;
  #wasQuick = false;
  #isTaken = true;
  #isOver = false;
  /** Its next sign of life; undefined before the first was planned. */
  due: ArmedTimer | undefined;

  constructor(
    reader: ReplyStream,
    asked: StreamAsked,
    { clock, unread }: { readonly clock: Clock; readonly unread: Counts },
  ) {
    this.#reader = reader;
    this.#asked = asked;
    this.#clock = clock;
    this.#unread = unread;
  }

  /** Writes the head and the first page, and from then on page after page until the reader is gone or may read no more. */
  begin(head: string, first: Page): void {
    this.#reader.write(head);
    this.#pass(first, undefined);
    void this.goOn();
  }

  /** Ends the stream: the reader comes back. */
  end(): void {
    this.#reader.end();
  }

  /** The reader is gone or the stream was ended. */
  closed(): void {
    this.#isOver = true;
    this.#noteUnread();
    this.due?.cancel();
    this.#wait?.end();
  }

  /** Sends the reader a heartbeat. Returns false if it has disconnected. */
  beat(): boolean {
    if (this.#reader.bufferedBytes() === 0) this.#reader.write(': still here\n\n');
    return !this.#isOver;
  }

  /** Asks for pages until one has to wait. Then nothing runs until that wait has ended. */
  async goOn(): Promise<void> {
    while (!this.#isOver && (this.#isTaken || (await this.#caughtUp()))) {
      const wait = this.#wait;
      if (wait === undefined) this.#askedMs = this.#clock.monotonicMs();
      const isCounted = this.#uncounted >= EVENTS_A_CALL;
      const asked = await this.#asked.next(this.#cursor, { waitMs: WAIT_MS, wait, isCounted });
      if (isCounted && asked.reply.status === 200) this.#uncounted -= EVENTS_A_CALL;
      this.#wait = asked.wait;
      if (asked.wait === undefined) {
        wait?.leave();
        await this.#answered(asked.reply);
      } else {
        asked.wait.whenWoken(goOn, this);
        if (this.#isOver) asked.wait.end();
        return;
      }
    }
    this.#wait?.leave();
  }

  async #answered(reply: ReplyValue): Promise<void> {
    if (this.#isOver) return;
    if (isRefusal(reply.status)) {
      this.#refuse(reply);
      return;
    }
    const page = reply.status === 200 ? pageOf(reply) : { items: [], nextCursor: this.#cursor };
    this.#uncounted += page.items.length;
    this.#pass(page, this.#cursor);
    // An answer may come early once, when the tenant moves.
    const isQuick = page.items.length === 0 && this.#clock.monotonicMs() - this.#askedMs < AGAIN_MS;
    const again = reply.status !== 200 || (isQuick && this.#wasQuick);
    this.#wasQuick = isQuick;
    if (reply.status === 429) await this.#pause(limitedMs(reply));
    else if (errorCode(reply) === 'OVERLOADED') await this.#pause(NO_ROOM_MS);
    else if (again) await this.#pause(AGAIN_MS);
  }

  /** Passes a page on to a reader at `place`. */
  #pass(page: Page, place: string | undefined): void {
    const text = written(page, place);
    this.#isTaken = text === '' || this.#reader.write(text);
    this.#cursor = page.nextCursor;
    // The reader returns and reads the unread events once more.
    if (!this.#noteUnread()) this.#reader.drop();
  }

  /** Counts the unread bytes of the reader. Returns false if they exceed the limit of the tenant or the node. */
  #noteUnread(): boolean {
    const before = this.#unreadBytes;
    this.#unreadBytes = this.#isOver ? 0 : this.#reader.bufferedBytes();
    const more = this.#unreadBytes - before;
    const ofTenant = this.#unread.add(this.#asked.tenantId, more);
    const { tenant, node } = MOST_UNREAD_BYTES;
    return more <= 0 || (ofTenant <= tenant && this.#unread.total <= node);
  }

  /**
   * Waits until a reader that lags has read all bytes. Returns false for one that took too long, which is disconnected.
   */
  async #caughtUp(): Promise<boolean> {
    const endMs = this.#clock.monotonicMs() + MOST_LAG_MS;
    while (!this.#isOver && this.#clock.monotonicMs() < endMs) {
      await this.#pause(LAG_LOOK_MS);
      // Only a write shows if bytes are still buffered.
      if (this.#isOver || !this.#reader.write(':\n\n')) continue;
      this.#noteUnread();
      return true;
    }
    if (!this.#isOver) this.#reader.drop();
    return false;
  }

  /** Sends the reason for the end, so that the reader does not reconnect in vain. */
  #refuse({ body }: ReplyValue): void {
    const { error } = JSON.parse(String(body)) as { readonly error: unknown };
    this.#reader.write(`event: end\ndata: ${JSON.stringify(error)}\n\n`);
    this.#reader.end();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.after(ms, resolve));
  }
}

function goOn(following: Following): void {
  void following.goOn();
}

/** True for an error that a retry does not change: the key, the tenant, the position or the shop. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** Returns how long a stream waits after its key or its tenant's month has reached the limit. */
function limitedMs({ body }: ReplyValue): number {
  const { error } = JSON.parse(String(body)) as { readonly error: { readonly retryAfter?: number } };
  return Math.min((error.retryAfter ?? 1) * 1_000, MOST_LIMITED_MS);
}

function pageOf({ body }: ReplyValue): Page {
  return (JSON.parse(String(body)) as { readonly data: Page }).data;
}

/** Returns the events of a page, and its position if that differs from the last event's and from the reader's. */
function written({ items, nextCursor }: Page, place: string | undefined): string {
  const events = items.map(
    (item) => `id: ${item.id}\nevent: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`,
  );
  const isAtCursor = nextCursor === (items.at(-1)?.id ?? place);
  return events.join('') + (isAtCursor ? '' : `id: ${nextCursor}\n\n`);
}
