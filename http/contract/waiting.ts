import type { Failure } from '../../actors/failure.ts';

/**
 * Where a call waits for a better answer than the one there is. Whoever holds it asks again with it once it woke, or leaves it.
 */
export interface CallWait {
  /** Calls back with the listener, once and never synchronously: when there is news, or the wait is over. */
  whenWoken<Listener>(callback: (listener: Listener) => void, listener: Listener): void;
  /** Ends the wait for good: its call is answered with what there is. */
  end(): void;
  /** Gives its place back, once, and ends the wait; whoever looks no more says so. */
  leave(): void;
}

/**
 * That calls of an endpoint may wait, and how one is continued. The owner answers such a call with a wait in place of a
 * final reply; nothing is kept of the call meanwhile but its request, which is handled again with the wait once that woke.
 */
export interface WaitDeclaration<Wait extends CallWait = CallWait> {
  /** How long a call of this query waits at most; 0: it does not. Whether it may is said by its owner. Milliseconds. */
  mostMs(query: string): number;
  /** How many calls may wait at a listener, and why one more may not. */
  readonly mostCalls: number;
  readonly noRoom: Failure;
  /**
   * The query of a call as it goes on: from where the wait stands, and without waiting, since another owner would be asked
   * with it where the tenant has moved meanwhile.
   */
  continued(query: string, wait: Wait): string;
}

/**
 * That whoever asks for server-sent events gets one page of an endpoint after another, each `{ items: [{ id, type }], nextCursor }`.
 */
export interface FollowDeclaration {
  /** The query of the page behind `place`, which waits for its first item as long; without a place it is that of the caller's query. */
  page(query: string, place: string, waitMs: number): string;
}
