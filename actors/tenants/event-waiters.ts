import type { ArmedTimer, Clock } from '../../runtime/clock.ts';
import { Deadlines } from '../../runtime/deadlines.ts';
import type { Failure } from '../failure.ts';
import { START_OF_STREAM } from './event-cursor.ts';

/**
 * How many calls may wait for events at a time. One that waits takes memory alone: 1 KB of heap, and about 8 KB of the process with
 * its connection (bench/README.md, `readers`), so 20,000 take 160 MB. Those of a tenant are woken together.
 */
export const MOST_EVENT_WAITS = { tenant: 256, node: 20_000 } as const;

/** The failure of a call that would wait beyond that. A place becomes free as another call's wait ends, within 25 s. */
export const NO_ROOM_TO_WAIT = {
  code: 'OVERLOADED',
  message: 'Too many calls wait for events; read without waiting, or try again shortly.',
  retryAfterSeconds: 5,
} as const satisfies Failure;

/** Waits whose time is over within so many milliseconds end together. */
const TOGETHER_MS = 20;

/** What woke a tenant's calls, all at once: they ask the same questions, so each is asked once, and after the event. */
export class SharedAnswers {
  readonly #answers = new Map<string, Promise<unknown>>();

  /** The answer to the question of this name, of whoever asked it first. */
  once<Answer>(name: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.#answers.get(name) as Promise<Answer> | undefined;
    if (known !== undefined) return known;
    const answer = ask();
    this.#answers.set(name, answer);
    return answer;
  }
}

/**
 * The wait of one call for its tenant's events, from its first look until its answer. Thousands wait at a time, so a call is let
 * go of meanwhile and made anew from its request: the wait knows how far it has looked and what woke it.
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
  /** Its time; undefined: it was over from the start. */
  #deadline: ArmedTimer | undefined;
  /** The place in the tenant's stream up to which nothing fits. */
  place = START_OF_STREAM;

  constructor(waiters: EventWaiters, tenantId: string, keyId: string | undefined) {
    this.#waiters = waiters;
    this.#tenantId = tenantId;
    this.keyId = keyId;
  }

  /**
   * Calls back with the listener, once and never synchronously: when events are stored or the wait is over, or because either
   * came since the last look.
   */
  whenWoken<Listener>(callback: (listener: Listener) => void, listener: Listener): void {
    this.#callback = callback;
    this.#listener = listener;
    if (this.#shared !== undefined || this.#isOver) this.#wake();
  }

  /** What came since the last look, once; undefined: nothing did, and the wait is over. */
  takeShared(): SharedAnswers | undefined {
    const shared = this.#shared;
    this.#shared = undefined;
    return shared;
  }

  /** Events are stored. */
  tell(shared: SharedAnswers): void {
    this.#shared = shared;
    this.#wake();
  }

  /** Ends the wait for good: its call is answered with what there is. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Ends the wait so many milliseconds from now, unless it was left before. */
  endWith(deadlines: Deadlines<EventWait>, afterMs: number): void {
    this.#deadline = deadlines.add(this, afterMs);
  }

  /** Gives its place back, once, and ends the wait: nobody would tell it of anything any more. Whoever looks no more says so. */
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
    // Whoever tells of an event is not held up by all who hear of it.
    queueMicrotask(() => callback(listener));
  }
}

/** Lets calls wait for the next event of a tenant, as many as a tenant and a node may have waiting. */
export class EventWaiters {
  readonly #deadlines: Deadlines<EventWait>;
  readonly #waiting = new Map<string, Set<EventWait>>();
  #waits = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#deadlines = new Deadlines(clock, TOGETHER_MS, (wait) => wait.end());
  }

  /** Events of this tenant are stored. */
  changed(tenantId: string): void {
    const ofTenant = this.#waiting.get(tenantId);
    if (ofTenant === undefined) return;
    const shared = new SharedAnswers();
    for (const wait of ofTenant) wait.tell(shared);
  }

  /** The tenant leaves this node: its waits end now, while the node may still answer, and callers ask the next owner. */
  end(tenantId: string): void {
    for (const wait of this.#waiting.get(tenantId) ?? []) wait.end();
  }

  /** A key of the tenant opens no more what it did: calls that were made with it are looked at anew. */
  endOfKey(tenantId: string, keyId: string): void {
    for (const wait of this.#waiting.get(tenantId) ?? []) if (wait.keyId === keyId) wait.end();
  }

  /** Ends all waits and takes no more, since this node stops. */
  close(): void {
    this.#closed = true;
    for (const tenantId of this.#waiting.keys()) this.end(tenantId);
  }

  /** How many calls wait on this node. */
  get count(): number {
    return this.#waits;
  }

  /**
   * Lets one more call, made with that key, wait for up to `waitMs`, counted until it leaves; undefined: too many wait already. On a
   * node that stops the wait is over at once.
   */
  enter(tenantId: string, waitMs: number, keyId?: string): EventWait | undefined {
    const ofTenant = this.#waiting.get(tenantId) ?? new Set();
    const { tenant, node } = MOST_EVENT_WAITS;
    if (ofTenant.size >= tenant || this.#waits >= node) return undefined;
    const wait = new EventWait(this, tenantId, keyId);
    this.#waits += 1;
    this.#waiting.set(tenantId, ofTenant.add(wait));
    if (this.#closed) wait.end();
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
