import type { Clock } from '../../../../runtime/clock.ts';

/** Replies to one chat at once, before the rate limit applies. */
const BURST = 20;
/** Replies to one chat that wait in the queue. At one a second they wait ten minutes at most. */
const MOST_WAITING = 600;
/** Chats whose rate is remembered; one forgotten begins with a full burst. */
const MOST_CHATS = 1_000;

/**
 * How fast a shop may send messages of one chat again: a token bucket for each chat. Many devices with a few requests
 * each have locked accounts, so the rate counts by chat and not by device (oxidezap/whatsapp-rust, pull 871).
 */
export class ResendBudget {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #everyMs: number;
  /** When the bucket of a chat is full again; milliseconds of the monotonic clock. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Takes a token. Returns the time to wait for it, in milliseconds, or undefined if too many wait already. */
  take(chat: string): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(chat) ?? nowMs) + this.#everyMs;
    const waitMs = Math.max(0, fullAtMs - nowMs - BURST * this.#everyMs);
    if (waitMs > MOST_WAITING * this.#everyMs) return undefined;
    this.#fullAtMs.delete(chat);
    this.#fullAtMs.set(chat, fullAtMs);
    for (const oldestName of this.#fullAtMs.keys()) {
      if (this.#fullAtMs.size <= MOST_CHATS) break;
      this.#fullAtMs.delete(oldestName);
    }
    return waitMs;
  }
}
