import { ApiError } from './api-error.ts';
import { timeLimit } from './client-clock.ts';
import type { ClientSettings } from './client-options.ts';
import { endedMessage, eventFeed, MESSAGE_ENDS } from './event-feed.ts';
import type { Call } from './methods.ts';
import type { Message } from './operations.ts';

/** The bounds of a wait for a message. */
export interface WaitOptions {
  /** Ends the wait, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Rejects with `TIMEOUT` after this time, in milliseconds. By default it waits until the message ends, a day at most.
   */
  readonly timeoutMs?: number | undefined;
}

/** A read of the events that lasts while a caller waits. */
interface Reading {
  /** Resolves once the read receives every later end of a message, or has failed. */
  readonly listening: Promise<void>;
  readonly waiters: Map<string, Set<Waiter>>;
  stop(): void;
}

interface Waiter {
  resolve(message: Message): void;
  reject(error: unknown): void;
}

/** Waits for messages to end. All waits of a client share one reader of the events. */
export class MessageOutcomes {
  readonly #call: Call;
  readonly #settings: ClientSettings;
  #reading: Reading | undefined;

  constructor(call: Call, settings: ClientSettings) {
    this.#call = call;
    this.#settings = settings;
  }

  /**
   * Resolves with the message once its status is final: `sent`, `failed` or `rejected`. The last two have a `reason`.
   */
  async wait(
    id: string,
    { signal, timeoutMs = Number.POSITIVE_INFINITY }: WaitOptions = {},
  ): Promise<Message> {
    signal?.throwIfAborted();
    this.#reading ??= this.#startReading();
    const reading = this.#reading;
    const { end, leave } = this.#waitIn(reading, id);
    const limit = timeLimit(this.#settings.clock, timeoutMs, signal);
    const requestId = this.#settings.newId();
    const over = new Promise<never>((_, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true });
    });
    const look = async (): Promise<Message> => {
      await reading.listening;
      // The record shows an end before the reading began. The feed reports a later one.
      const { data } = await this.#call('readMessage', { id }, { signal: limit.signal, requestId });
      return isFinal(data) ? data : end;
    };
    try {
      return await Promise.race([look(), end, over]);
    } catch (error) {
      signal?.throwIfAborted();
      if (!limit.isUp()) throw error;
      throw new ApiError({ code: 'TIMEOUT', reason: 'the message has not ended in time', requestId });
    } finally {
      limit.release();
      leave();
    }
  }

  #startReading(): Reading {
    const end = new AbortController();
    const { promise: listening, resolve: listens } = deferred<void>();
    const waiters: Reading['waiters'] = new Map();
    const reading: Reading = { listening, waiters, stop: () => end.abort() };
    const read = async (): Promise<void> => {
      const { data } = await this.#call('listEvents', { limit: 1 }, { signal: end.signal });
      listens();
      const feed = eventFeed(this.#call, this.#settings, {
        cursor: data.nextCursor,
        types: MESSAGE_ENDS,
        signal: end.signal,
      });
      for await (const event of feed) {
        const message = endedMessage(event);
        for (const waiter of waiters.get(message?.id ?? '') ?? []) if (message) waiter.resolve(message);
      }
    };
    read().catch((error: unknown) => {
      if (this.#reading === reading) this.#reading = undefined;
      for (const waiter of [...waiters.values()].flatMap((each) => [...each])) waiter.reject(error);
      listens();
    });
    return reading;
  }

  /** Returns a promise of the end of a message in the events. `leave` ends the read with its last waiter. */
  #waitIn(reading: Reading, id: string): { readonly end: Promise<Message>; leave(): void } {
    const waiter = deferred<Message>();
    // The waiter gets a failure. After it has left, the rejection must not count as unhandled.
    waiter.promise.catch(() => undefined);
    const ofMessage = reading.waiters.get(id) ?? new Set();
    reading.waiters.set(id, ofMessage.add(waiter));
    return {
      end: waiter.promise,
      leave: () => {
        ofMessage.delete(waiter);
        if (ofMessage.size === 0) reading.waiters.delete(id);
        if (reading.waiters.size > 0) return;
        if (this.#reading === reading) this.#reading = undefined;
        reading.stop();
      },
    };
  }
}

function isFinal({ status }: Message): boolean {
  return status !== 'queued' && status !== 'sending';
}

/** A promise with its resolve and reject functions; Node 20 has no `Promise.withResolvers`. */
interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** Makes a pending one. */
function deferred<Value>(): Deferred<Value> {
  // The promise's function runs at once and sets both.
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
}
