import { pause } from './client-clock.ts';
import type { ClientSettings } from './client-options.ts';
import type { Call } from './methods.ts';
import type { Event, Message } from './operations.ts';

/** Selects the events and the position to start from. */
export interface FollowOptions {
  /** Continues after this cursor (`cursor` of a feed, `id` of an event). Without one, from now on. */
  readonly cursor?: string | undefined;
  /** Only these types. By default all. */
  readonly types?: readonly Event['type'][] | undefined;
  /** Only the events of this shop: its id or whole name. */
  readonly shop?: string | undefined;
  /** Ends the feed. The iteration then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The feed rejects after the service was away for this time, in milliseconds. By default 300,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Events in the order in which they happened, without end. If the service is away, it is asked again from the same
 * cursor, so no event is missed or comes twice. Rejects with an `ApiError` if the key may no longer read, or the cursor
 * is too old. It also rejects if the service is away for too long. Then start a new feed from `cursor`.
 */
export interface EventFeed extends AsyncIterable<Event> {
  /** The position after the last event, or later if no event matched. Store it once an event is handled. */
  readonly cursor: string | undefined;
}

/**
 * Time that a call waits for the next event, in milliseconds. It is less than the API allows. If the owner dies, a call
 * that waits through another node is answered only at its end.
 */
const WAIT_MS = 15_000;
/** Events a page: the most that the API gives. */
const LIMIT = 100;
const TIMEOUT_MS = 300_000;

/** Makes a feed. It sends nothing before it is iterated. */
export function eventFeed(call: Call, settings: ClientSettings, options: FollowOptions = {}): EventFeed {
  return new CalledFeed(call, settings, options);
}

class CalledFeed implements EventFeed {
  readonly #call: Call;
  readonly #settings: ClientSettings;
  readonly #options: FollowOptions;
  #cursor: string | undefined;

  constructor(call: Call, settings: ClientSettings, options: FollowOptions) {
    this.#call = call;
    this.#settings = settings;
    this.#options = options;
    this.#cursor = options.cursor;
  }

  get cursor(): string | undefined {
    return this.#cursor;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, never, void> {
    const { clock, eventGapMs } = this.#settings;
    const { types, shop, signal, timeoutMs = TIMEOUT_MS } = this.#options;
    for (;;) {
      const isFirst = this.#cursor === undefined;
      const askedMs = clock.monotonicMs();
      const { data } = await this.#call(
        'listEvents',
        { cursor: this.#cursor, types: types?.join(','), shop, limit: LIMIT, waitMs: WAIT_MS },
        { signal, timeoutMs, longestRetryAfterMs: timeoutMs },
      );
      for (const event of data.items) {
        this.#cursor = event.id;
        yield event;
      }
      this.#cursor = data.nextCursor;
      // An answer may come early, and the API counts calls. So pages are at least `eventGapMs` apart. The first call
      // without a cursor only gets a position.
      const restMs = eventGapMs - (clock.monotonicMs() - askedMs);
      if (!isFirst && restMs > 0) await pause(clock, restMs, signal);
    }
  }
}

/** Types of events that end a message or status post. */
export const MESSAGE_ENDS = ['message.sent', 'message.failed', 'message.rejected'] as const;

/** Returns the message or status post in its final state, if the event ends one; otherwise undefined. */
export function endedMessage(event: Event): Message | undefined {
  switch (event.type) {
    case 'message.sent':
    case 'message.failed':
    case 'message.rejected':
      return event.data;
    default:
      return undefined;
  }
}
