import type { Failure } from '../../actors/failure.ts';

/**
 * The wait of a call for a better reply than the present one. After the wait has ended, its holder repeats the call
 * with it or leaves it.
 */
export interface CallWait {
  /** Calls back with the listener once, never synchronously: on an event, or when the wait is over. */
  whenWoken<Listener>(callback: (listener: Listener) => void, listener: Listener): void;
  /** Ends the wait; the call is answered with the present data. */
  end(): void;
  /** Releases the wait's slot and ends the wait. Must be called once by each holder that stops waiting. */
  leave(): void;
}

/**
 * Declares that calls of an endpoint may wait, and how to continue one. The owner answers such a call with a wait
 * instead of a final reply. Meanwhile only the request of the call is kept. After the wait has ended, the request is
 * handled again with it.
 */
export interface WaitDeclaration<Wait extends CallWait = CallWait> {
  /**
   * Longest wait of a call with this query, in milliseconds; 0 if it does not wait. The owner decides if it may wait.
   */
  mostMs(query: string): number;
  /** Most calls that may wait at a listener, and the message for one more. */
  readonly mostCalls: number;
  readonly noRoom: Failure;
  /**
   * Returns the query that continues the call: it starts at the wait's position and does not wait. If the tenant has
   * moved, another owner gets this query.
   */
  continued(query: string, wait: Wait): string;
}

/**
 * Declares that a caller that asks for server-sent events gets page after page of an endpoint, each `{ items: [{ id,
 * type }], nextCursor }`.
 */
export interface FollowDeclaration {
  /**
   * Returns the query of the page after `place`, which waits as long for its first item. Without a place it continues
   * from the caller's query.
   */
  page(query: string, place: string, waitMs: number): string;
}
