import type { ArmedTimer, Clock } from '../../../runtime/clock.ts';
import { Deadlines } from '../../../runtime/deadlines.ts';
import type { Failure } from '../../failure.ts';
import { START_OF_STREAM } from './event-cursor.ts';

/**
 * The most calls that may wait for events at a time. A waiting call takes only memory: 1 KB of heap, and about 8 KB of
 * the process with its connection (bench/README.md, `readers`). 20,000 calls take 160 MB.
 */
export const MOST_EVENT_WAITS = { tenant: 256, node: 20_000 } as const;

/** The failure of a call that would wait beyond that. A slot becomes free as another call's wait ends, within 25 s. */
export const NO_ROOM_TO_WAIT = {
  code: 'OVERLOADED',
  message: 'Too many calls wait for events; read without waiting, or try again shortly.',
  retryAfterSeconds: 5,
} as const satisfies Failure;

/** Waits whose ends are at most this many milliseconds apart end together. */
const TOGETHER_MS = 20;

/** The results that a tenant's calls share after an event: a query that several of them send runs once. */
export class SharedAnswers {
  readonly #answers = new Map<string, Promise<unknown>>();

  /** Returns the result of the query with this name; only the first caller runs it. */
  once<Answer>(name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const knownAnswer = this.#answers.get(name) as Promise<Answer> | undefined;
    if (knownAnswer !== undefined) return knownAnswer;
    const answer = ask();
    this.#answers.set(name, answer);
    return answer;
  }
}

/**
 * The wait of one call for its tenant's events, from its first read until its answer. Thousands of calls wait at a
 * time, so a call is released meanwhile and made again from its request. The wait keeps its position and the events
 * that ended it.
 */
export class EventWait {
  readonly #waiters: EventWaiters;
  readonly #tenantId: string;
  /** The key that the call was made with. */
  readonly keyId: string | undefined;
  #shared: SharedAnswers | undefined;
  #isOver = false;
  #callback: ((listener: never) => void) | undefined;
  #listener: unknown;
  /** Its timer. Undefined if it was over from the start. */
  #deadline: ArmedTimer | undefined;
  /** The position in the tenant's stream up to which no event matches. */
  place = START_OF_STREAM;

  constructor(waiters: EventWaiters, tenantId: string, keyId: string | undefined) {
    this.#waiters = waiters;
    this.#tenantId = tenantId;
    this.keyId = keyId;
  }

  /**
   * Calls back with the listener, once and never synchronously, when events are stored or the wait is over. It does so
   * at once if either came since the last read.
   */
  whenWoken<Listener>(callback: (listener: Listener) => void, listener: Listener): void {
    this.#callback = callback;
    this.#listener = listener;
    if (this.#shared !== undefined || this.#isOver) this.#wake();
  }

  /** Returns the shared results since the last read, once. Undefined if the wait ended without an event. */
  takeShared(): SharedAnswers | undefined {
    const sharedAnswers = this.#shared;
    this.#shared = undefined;
    return sharedAnswers;
  }

  /** Events are stored. */
  publish(sharedAnswers: SharedAnswers): void {
    this.#shared = sharedAnswers;
    this.#wake();
  }

  /** Ends the wait permanently; its call is answered with the events found so far. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Ends the wait after `afterMs`, unless it was left before. */
  endWith(deadlines: Deadlines<EventWait>, afterMs: number): void {
    this.#deadline = deadlines.add(this, afterMs);
  }

  /**
   * Gives its slot back, once, and ends the wait: no event reaches it any more. A caller that stops reading must call
   * this.
   */
  leave(): void {
    this.end();
    this.#deadline?.cancel();
    this.#waiters.leave(this.#tenantId, this);
  }

  #wake(): void {
    const callback = this.#callback as ((listener: unknown) => void) | undefined;
    if (callback === undefined) return;
    const listener = this.#listener;
    this.#callback = undefined;
    this.#listener = undefined;
    // Listeners must not delay the publisher of an event.
    queueMicrotask(() => callback(listener));
  }
}

/** Lets calls wait for the next event of a tenant, as many as a tenant and a node may have waiting. */
export class EventWaiters {
  readonly #deadlines: Deadlines<EventWait>;
  readonly #waiting = new Map<string, Set<EventWait>>();
  #waits = 0;
  #isClosed = false;

  constructor(clock: Clock) {
    this.#deadlines = new Deadlines(clock, TOGETHER_MS, (wait) => wait.end());
  }

  /** Events of this tenant are stored. */
  publish(tenantId: string): void {
    const ofTenant = this.#waiting.get(tenantId);
    if (ofTenant === undefined) return;
    const sharedAnswers = new SharedAnswers();
    for (const wait of ofTenant) wait.publish(sharedAnswers);
  }

  /** Ends the tenant's waits. If the tenant leaves, the node may still answer now, and callers go to the next owner. */
  end(tenantId: string): void {
    for (const wait of this.#waiting.get(tenantId) ?? []) wait.end();
  }

  /** A key of the tenant lost some of its rights: waiting calls that used it are checked again. */
  endOfKey(tenantId: string, keyId: string): void {
    for (const wait of this.#waiting.get(tenantId) ?? []) if (wait.keyId === keyId) wait.end();
  }

  /** Ends all waits and accepts no more, because this node stops. */
  close(): void {
    this.#isClosed = true;
    for (const tenantId of this.#waiting.keys()) this.end(tenantId);
  }

  /** How many calls wait on this node. */
  get count(): number {
    return this.#waits;
  }

  /**
   * Lets one more call, made with that key, wait for up to `waitMs`, counted until it leaves. Returns undefined if too
   * many wait already. On a node that stops the wait is over at once.
   */
  enter(tenantId: string, waitMs: number, keyId?: string): EventWait | undefined {
    const ofTenant = this.#waiting.get(tenantId) ?? new Set();
    const { tenant, node } = MOST_EVENT_WAITS;
    if (ofTenant.size >= tenant || this.#waits >= node) return undefined;
    const wait = new EventWait(this, tenantId, keyId);
    this.#waits += 1;
    this.#waiting.set(tenantId, ofTenant.add(wait));
    if (this.#isClosed) wait.end();
    else wait.endWith(this.#deadlines, waitMs);
    return wait;
  }

  /** Counts one call less, once. */
  leave(tenantId: string, wait: EventWait): void {
    const ofTenant = this.#waiting.get(tenantId);
    if (!ofTenant?.delete(wait)) return;
    this.#waits -= 1;
    if (ofTenant.size === 0) this.#waiting.delete(tenantId);
  }
}
