import { NO_ROOM_TO_WAIT } from '../../../actors/tenants/stored-events/event-waiters.ts';
import { type ArmedTimer, type Clock, sleep } from '../../../runtime/clock.ts';
import type { Counts } from '../../../runtime/counts.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { ReplyStream, ReplyValue } from '../../contract/exchange.ts';
import type { CallWait } from '../../contract/waiting.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import { pageOf, type StreamedPage, writePage } from './event-page.ts';

/**
 * Longest wait of one request to the owner, in milliseconds. If the owner is killed meanwhile, the reader notices only
 * then.
 */
const WAIT_MS = 15_000;
/** Pause after a second empty page that came at once, or after a failure. */
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

/** The tenant of a stream, and where its pages come from. */
export interface StreamSource {
  readonly tenantId: string;
  /**
   * Asks the tenant's present owner for the events after a position. With a wait, it asks for the events that ended it.
   * With `isCounted` the request counts as a call. Rejects only by a defect.
   */
  next(
    cursor: string,
    page: { readonly waitMs: number; readonly wait: CallWait | undefined; readonly isCounted: boolean },
  ): Promise<OwnerReply>;
}

/** One open stream of events. Between two pages, no other data of it is kept. */
export class ReaderStream {
  readonly #reader: ReplyStream;
  readonly #source: StreamSource;
  readonly #clock: Clock;
  readonly #unread: Counts;
  readonly #log: Logger;
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
  /** Its next heartbeat; undefined before the first one is planned. */
  due: ArmedTimer | undefined;

  constructor(
    reader: ReplyStream,
    source: StreamSource,
    options: { readonly clock: Clock; readonly log: Logger; readonly unreadBytes: Counts },
  ) {
    this.#reader = reader;
    this.#source = source;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#unread = options.unreadBytes;
  }

  /** Writes the head and the first page, then page after page until the reader is gone or may read no more. */
  begin(head: string, first: ReplyValue): void {
    this.#reader.write(head);
    this.#pass(pageOf(first), undefined);
    this.goOn();
  }

  /** Ends the stream. Its reader reconnects. */
  end(): void {
    this.#reader.end();
  }

  /** Takes note that the reader is gone or the stream was ended. */
  closed(): void {
    this.#isOver = true;
    this.#noteUnread();
    this.due?.cancel();
    this.#wait?.end();
  }

  /** Sends a heartbeat to a reader that does not lag. Returns false if it has disconnected. */
  beat(): boolean {
    if (this.#reader.bufferedBytes() === 0) this.#reader.write(': still here\n\n');
    return !this.#isOver;
  }

  /**
   * Asks for pages until one has to wait. Then nothing runs until that wait has ended. After a defect the reader is
   * disconnected, and reconnects.
   */
  goOn(): void {
    this.#askForPages().catch((error: unknown) => {
      this.#log.error({ err: error }, 'a stream of events was broken off');
      this.#wait?.leave();
      this.#wait = undefined;
      this.#reader.drop();
    });
  }

  async #askForPages(): Promise<void> {
    while (!this.#isOver && (this.#isTaken || (await this.#caughtUp()))) {
      const wait = this.#wait;
      if (wait === undefined) this.#askedMs = this.#clock.monotonicMs();
      const isCounted = this.#uncounted >= EVENTS_A_CALL;
      const { reply, wait: next } = await this.#source.next(this.#cursor, {
        waitMs: WAIT_MS,
        wait,
        isCounted,
      });
      if (isCounted && reply.status === 200) this.#uncounted -= EVENTS_A_CALL;
      this.#wait = next;
      if (next === undefined) {
        wait?.leave();
        await this.#take(reply);
      } else {
        next.whenWoken(goOn, this);
        if (this.#isOver) next.end();
        return;
      }
    }
    this.#wait?.leave();
  }

  /** Passes the page of a reply on. If the next one must not be asked for yet, resolves when it may be. */
  async #take(reply: ReplyValue): Promise<void> {
    if (this.#isOver) return;
    if (isRefusal(reply.status)) {
      this.#refuse(reply);
      return;
    }
    const page = reply.status === 200 ? pageOf(reply) : { items: [], nextCursor: this.#cursor };
    this.#uncounted += page.items.length;
    this.#pass(page, this.#cursor);
    // One empty page may come early, because the tenant moves.
    const isQuick = page.items.length === 0 && this.#clock.monotonicMs() - this.#askedMs < AGAIN_MS;
    const isSoonAgain = reply.status !== 200 || (isQuick && this.#wasQuick);
    this.#wasQuick = isQuick;
    if (reply.status === 429) await sleep(this.#clock, limitedMs(reply));
    else if (reply.code === 'OVERLOADED') await sleep(this.#clock, NO_ROOM_MS);
    else if (isSoonAgain) await sleep(this.#clock, AGAIN_MS);
  }

  /** Passes a page on to a reader at `place`. */
  #pass(page: StreamedPage, place: string | undefined): void {
    const text = writePage(page, place);
    this.#isTaken = text === '' || this.#reader.write(text);
    this.#cursor = page.nextCursor;
    // The reader reconnects and reads the unread events once more.
    if (!this.#noteUnread()) this.#reader.drop();
  }

  /** Counts the unread bytes of the reader. Returns false if they exceed the limit of the tenant or the node. */
  #noteUnread(): boolean {
    const bytesBefore = this.#unreadBytes;
    this.#unreadBytes = this.#isOver ? 0 : this.#reader.bufferedBytes();
    const moreBytes = this.#unreadBytes - bytesBefore;
    const ofTenant = this.#unread.add(this.#source.tenantId, moreBytes);
    const { tenant, node } = MOST_UNREAD_BYTES;
    return moreBytes <= 0 || (ofTenant <= tenant && this.#unread.total <= node);
  }

  /**
   * Waits until a reader that lags has read all bytes. Returns false for one that took too long, which is disconnected.
   */
  async #caughtUp(): Promise<boolean> {
    const endMs = this.#clock.monotonicMs() + MOST_LAG_MS;
    while (!this.#isOver && this.#clock.monotonicMs() < endMs) {
      await sleep(this.#clock, LAG_LOOK_MS);
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
}

function goOn(stream: ReaderStream): void {
  stream.goOn();
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
