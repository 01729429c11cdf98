import type { Failure } from '../../actors/failure.ts';

/**
 * The wait of a call for a better reply than the present one. After the wait has ended, its holder repeats the call
 * with it or leaves it.
 */
export interface CallWait {
  /**
   * Calls back once, on an event or when the wait is over, and never synchronously. `listener` is passed to the
   * callback, so that no closure is kept for it.
   */
  whenWoken<Listener>(callback: (listener: Listener) => void, listener: Listener): void;
  /** Ends the wait; the call is answered with the present data. */
  end(): void;
  /** Ends the wait and frees its slot. Each holder must call it once, when it stops waiting. */
  leave(): void;
}

/**
 * Declares that calls of an endpoint may wait, and how to continue one. The owner then returns a wait with its reply.
 * Only the request of the call is kept meanwhile. After the wait has ended, the request is handled once more with it.
 */
export interface WaitDeclaration<Wait extends CallWait = CallWait> {
  /**
   * Returns the longest wait of a call with this query, in milliseconds; 0 if it does not wait. The owner decides if it
   * may wait.
   */
  mostMs(query: string): number;
  /** Most calls that may wait at a listener, and the message for one more. */
  readonly mostCalls: number;
  readonly noRoom: Failure;
  /**
   * Returns the query that continues the call: it starts at the wait's position and does not wait. If the tenant has
   * moved, another owner gets this query.
   */
  continueQuery(query: string, wait: Wait): string;
}

/**
 * Declares that a caller may ask for server-sent events. It then gets page after page of the endpoint in one reply.
 * Each page is `{ items: [{ id, type }], nextCursor }`.
 */
export interface StreamDeclaration {
  /**
   * Returns the query of the page after `place`. An empty place is that of the caller's query. The page waits `waitMs`
   * for its first item.
   */
  page(query: string, place: string, waitMs: number): string;
}
