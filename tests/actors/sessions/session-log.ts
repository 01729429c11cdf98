import type { SessionEvent, SessionEventOf } from '../../../actors/sessions/session-events.ts';
import type { SessionAddress, SessionListener } from '../../../actors/sessions/session-host.ts';
import { MINUTE_MS } from '../../../runtime/durations.ts';

interface Waiter {
  readonly shopId: string;
  readonly matches: (event: SessionEvent) => boolean;
  readonly found: (event: SessionEvent) => void;
}

/** How long a test waits for an event before it reports which one is missing. */
const TIMEOUT_MS = MINUTE_MS;

/** Collects a host's events and lets a test wait for one. Each event ends one wait. */
export class SessionLog {
  readonly events: { readonly shopId: string; readonly event: SessionEvent }[] = [];
  #unread: { readonly shopId: string; readonly event: SessionEvent }[] = [];
  #waiters: Waiter[] = [];

  readonly listener: SessionListener = (shop, event) => {
    const entry = { shopId: shop.shopId, event };
    this.events.push(entry);
    const waiter = this.#waiters.find((waiter) => waiter.shopId === shop.shopId && waiter.matches(event));
    if (waiter === undefined) {
      this.#unread.push(entry);
      return;
    }
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
    waiter.found(event);
  };

  /** Returns the next event of that type for the shop. It may have come before and not been read. */
  next<Type extends SessionEvent['type']>(
    shop: SessionAddress,
    type: Type,
    matches: (event: SessionEventOf<Type>) => boolean = () => true,
  ): Promise<SessionEventOf<Type>> {
    const fits = (event: SessionEvent): boolean =>
      event.type === type && matches(event as SessionEventOf<Type>);
    const read = this.#unread.find((entry) => entry.shopId === shop.shopId && fits(entry.event));
    if (read !== undefined) {
      this.#unread = this.#unread.filter((entry) => entry !== read);
      return Promise.resolve(read.event as SessionEventOf<Type>);
    }
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(
        () => reject(new Error(`no ${type} came; there were: ${this.typesOf(shop).join(', ')}`)),
        TIMEOUT_MS,
      );
      this.#waiters.push({
        shopId: shop.shopId,
        matches: fits,
        found: (event) => {
          clearTimeout(timeout);
          resolve(event as SessionEventOf<Type>);
        },
      });
    });
  }

  /** Returns the types of all events of a shop so far, in order. */
  typesOf(shop: SessionAddress): string[] {
    return this.events.filter(({ shopId }) => shopId === shop.shopId).map(({ event }) => event.type);
  }

  /** Returns all events of one type for a shop so far. */
  all<Type extends SessionEvent['type']>(shop: SessionAddress, type: Type): SessionEventOf<Type>[] {
    return this.events
      .filter(({ shopId, event }) => shopId === shop.shopId && event.type === type)
      .map(({ event }) => event as SessionEventOf<Type>);
  }
}
