import type { Clock } from '../../runtime/clock.ts';
import { Deadlines, type Ending } from '../../runtime/deadlines.ts';
import type { Failure } from '../failure.ts';

/**
 * How many calls may wait for events at a time. One that waits takes memory alone: 4.9 KB of heap, and about 8 KB of the process with
 * its connection (bench/README.md, `readers`), so 20,000 take 160 MB. Those of a tenant are woken together.
 */
export const MOST_EVENT_WAITS = { tenant: 256, node: 20_000 } as const;

/** The failure of a call that would wait beyond that. A place becomes free as another call's wait ends, within 30 s. */
export const NO_ROOM_TO_WAIT = {
  code: 'OVERLOADED',
  message: 'Too many calls wait for events; read without waiting, or try again shortly.',
  retryAfterSeconds: 5,
} as const satisfies Failure;

/** Waits whose time is over within so many milliseconds end together. */
const TOGETHER_MS = 20;

/** What woke a tenant's calls, all at once: they ask the same questions, so each is asked once, and after the event. */
export class EventNews {
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

/** One call that waits for its tenant's events; thousands do, so it is small. */
export class EventWait {
  readonly #waiters: EventWaiters;
  readonly #tenantId: string;
  #news: EventNews | undefined;
  #isOver: boolean;
  #settle: ((news: EventNews | 'over') => void) | undefined;
  /** Those that end together with it. */
  #group: Ending<EventWait> | undefined;

  /** `isOver`: it is over before it begins. */
  constructor(waiters: EventWaiters, tenantId: string, isOver: boolean) {
    this.#waiters = waiters;
    this.#tenantId = tenantId;
    this.#isOver = isOver;
  }

  /**
   * Settles at the next event, or at once when one came since it was last asked. `over`: `timeoutMs` passed, or nobody is to
   * wait here any more.
   */
  next(timeoutMs: number): Promise<EventNews | 'over'> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      if (this.#news !== undefined || this.#isOver) this.wake();
      else this.#group = this.#waiters.endAfter(this, timeoutMs);
    });
  }

  /** Something happened. */
  tell(news: EventNews): void {
    this.#news = news;
    this.wake();
  }

  /** Nobody is to be told any more: `next` settles with `over`, now or when it is asked. */
  end(): void {
    this.#isOver = true;
    this.wake();
  }

  /** Settles what was asked, with what is known by now. */
  wake(): void {
    if (this.#settle === undefined) return;
    this.#group?.delete(this);
    this.#settle(this.#isOver ? 'over' : (this.#news ?? 'over'));
    this.#group = undefined;
    this.#settle = undefined;
    this.#news = undefined;
  }

  /** Gives its place back. */
  leave(): void {
    this.#waiters.leave(this.#tenantId, this);
  }
}

/** Lets calls wait for the next event of a tenant, as many as a tenant and a node may have waiting. */
export class EventWaiters {
  readonly #deadlines: Deadlines<EventWait>;
  readonly #waiting = new Map<string, Set<EventWait>>();
  #waits = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#deadlines = new Deadlines(clock, TOGETHER_MS, (wait) => wait.wake());
  }

  /** Events of this tenant are stored. */
  changed(tenantId: string): void {
    const ofTenant = this.#waiting.get(tenantId);
    if (ofTenant === undefined) return;
    const news = new EventNews();
    for (const wait of ofTenant) wait.tell(news);
  }

  /** The tenant leaves this node: its waits end now, while the node may still answer, and callers ask the next owner. */
  end(tenantId: string): void {
    for (const wait of this.#waiting.get(tenantId) ?? []) wait.end();
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

  /** Counts one more call until it leaves; undefined: too many wait already. On a node that stops its wait is over at once. */
  enter(tenantId: string): EventWait | undefined {
    const ofTenant = this.#waiting.get(tenantId) ?? new Set();
    const { tenant, node } = MOST_EVENT_WAITS;
    if (ofTenant.size >= tenant || this.#waits >= node) return undefined;
    const wait = new EventWait(this, tenantId, this.#closed);
    this.#waits += 1;
    this.#waiting.set(tenantId, ofTenant.add(wait));
    return wait;
  }

  /** Settles the wait so many milliseconds from now, unless it is deleted from what is returned before. */
  endAfter(wait: EventWait, timeoutMs: number): Ending<EventWait> {
    return this.#deadlines.add(wait, timeoutMs);
  }

  /** Counts one call less, once. */
  leave(tenantId: string, wait: EventWait): void {
    const ofTenant = this.#waiting.get(tenantId);
    if (!ofTenant?.delete(wait)) return;
    this.#waits -= 1;
    if (ofTenant.size === 0) this.#waiting.delete(tenantId);
  }
}
