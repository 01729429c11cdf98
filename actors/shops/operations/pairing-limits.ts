import type { Clock } from '../../../runtime/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../runtime/durations.ts';
import { CODE_PAUSE_MS, NETWORK_REFUSED } from '../judging/code-refusal.ts';

/** How many different numbers a tenant may request codes for in 24 hours (docs/contract.md, Pairing by code). */
const NUMBERS_A_DAY = 10;
/**
 * How often a code for one number is requested in an hour, by all tenants of the node. Each request notifies its phone.
 */
const TIMES_AN_HOUR = 5;
const TOO_OFTEN = `The limit of this service: one number is asked for ${TIMES_AN_HOUR} codes an hour.`;
const TOO_MANY = `The limit of this service: ${NUMBERS_A_DAY} different numbers are asked for codes in 24 hours.`;

/** The reason why no code is requested now. */
export interface PairingWait {
  readonly waitMs: number;
  /** States if the network refused, or a limit of this service. */
  readonly message: string;
}

/** From this number of entries on, expired ones are searched and dropped. */
const SWEPT_FROM = 1_000;

/**
 * Limits the requests for codes, per number and tenant. The counts are in the memory of the node that owns the tenant.
 * The counts are zero after a restart. If a tenant moves, its new node does not know what the former one counted.
 */
export class PairingLimits {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The times of the requests for each number in the last hour. */
  readonly #requestTimes = new Map<string, readonly number[]>();
  /** By tenant: the time of the last request for each number in the last 24 hours. */
  readonly #tenants = new Map<string, Map<string, number>>();
  #pausedUntilMs = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /**
   * Returns the reason why the tenant must wait. If there is none, counts the request for a code and returns undefined.
   */
  take(tenantId: string, phone: string): PairingWait | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (this.#pausedUntilMs > nowMs) return { waitMs: this.#pausedUntilMs - nowMs, message: NETWORK_REFUSED };
    const times = (this.#requestTimes.get(phone) ?? []).filter((atMs) => atMs > nowMs - HOUR_MS);
    const [first = nowMs] = times;
    if (times.length >= TIMES_AN_HOUR) return { waitMs: first + HOUR_MS - nowMs, message: TOO_OFTEN };
    const numbers = this.#numbersOf(tenantId, nowMs);
    if (!numbers.has(phone) && numbers.size >= NUMBERS_A_DAY)
      return { waitMs: Math.min(...numbers.values()) + DAY_MS - nowMs, message: TOO_MANY };
    numbers.set(phone, nowMs);
    this.#tenants.set(tenantId, numbers);
    this.#requestTimes.set(phone, [...times, nowMs]);
    this.#sweep(nowMs);
    return undefined;
  }

  /** The network refused a code because this node sent too many requests. */
  pause(): void {
    this.#pausedUntilMs = this.#clock.monotonicMs() + CODE_PAUSE_MS;
  }

  #numbersOf(tenantId: string, nowMs: number): Map<string, number> {
    const numbers = this.#tenants.get(tenantId) ?? new Map<string, number>();
    for (const [phone, atMs] of numbers) if (atMs <= nowMs - DAY_MS) numbers.delete(phone);
    return numbers;
  }

  #sweep(nowMs: number): void {
    if (this.#requestTimes.size < SWEPT_FROM) return;
    for (const [phone, times] of this.#requestTimes) {
      if ((times.at(-1) ?? 0) <= nowMs - HOUR_MS) this.#requestTimes.delete(phone);
    }
    for (const tenantId of [...this.#tenants.keys()]) {
      if (this.#numbersOf(tenantId, nowMs).size === 0) this.#tenants.delete(tenantId);
    }
  }
}
