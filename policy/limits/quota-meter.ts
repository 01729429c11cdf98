import { PLANS, type PlanName } from '../plan.ts';

/** A tenant's `api_calls` of its plan this month. */
interface QuotaUse {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Start of the next calendar month, UTC. */
  readonly resetsAtMs: number;
}

/** The decision on a call, and the use of the quota after it. */
interface QuotaDecision extends QuotaUse {
  readonly isAdmitted: boolean;
  /** Whole seconds until the next month begins. On a refusal only. */
  readonly retryAfterSeconds?: number;
}

interface QuotaCall {
  readonly plan: PlanName;
  readonly nowMs: number;
  /** If true, the call is counted and let through even if the plan has none left. By default false. */
  readonly mayExceed?: boolean;
}

/**
 * A tenant's API calls of the calendar month, UTC (docs/contract.md, Quota). A clock that steps back over the end of
 * a month leaves the later month in force, so no call is given twice.
 */
export class QuotaMeter {
  /** Months since January of year 0. */
  #month = 0;
  #used = 0;

  /**
   * Reads an encoded meter. A clock ahead may have left a month after the next one. Such a month becomes the present
   * one, with all its counts. Throws on a text that `encode` did not write.
   */
  static restore(encodedText: string, nowMs: number): QuotaMeter {
    const meter = new QuotaMeter();
    const [month = 0, usedCount = 0] = encodedText.split('.').map(Number);
    meter.#month = month;
    meter.#used = usedCount;
    if (meter.encode() !== encodedText) throw new Error('a stored quota is not readable');
    if (nowMs < monthStartMs(month - 1)) meter.#month = monthOf(nowMs);
    return meter;
  }

  /** The meter as ASCII text. */
  encode(): string {
    return `${this.#month}.${this.#used}`;
  }

  /** Counts a call when the plan has one left or the call may exceed it; else refuses it and counts nothing. */
  take(call: QuotaCall): QuotaDecision {
    const month = Math.max(this.#month, monthOf(call.nowMs));
    const usedCount = month === this.#month ? this.#used : 0;
    if (call.mayExceed !== true && usedCount >= PLANS[call.plan].apiCallsPerMonth) {
      const decision = this.#decision(call);
      const retryAfterSeconds = Math.ceil((decision.resetsAtMs - call.nowMs) / 1_000);
      return { ...decision, isAdmitted: false, retryAfterSeconds };
    }
    this.#month = month;
    this.#used = usedCount + 1;
    return this.#decision(call);
  }

  /** Returns the use of the quota. Counts nothing. */
  peek(call: Pick<QuotaCall, 'plan' | 'nowMs'>): QuotaUse {
    return this.#decision(call);
  }

  #decision(call: Pick<QuotaCall, 'plan' | 'nowMs'>): QuotaDecision {
    const month = Math.max(this.#month, monthOf(call.nowMs));
    const usedCount = month === this.#month ? this.#used : 0;
    const limit = PLANS[call.plan].apiCallsPerMonth;
    const resetsAtMs = month === lastMonth.month ? lastMonth.endsAtMs : monthStartMs(month + 1);
    return {
      isAdmitted: true,
      limit,
      used: usedCount,
      remaining: Math.max(0, limit - usedCount),
      resetsAtMs,
    };
  }
}

/**
 * The last month that was computed. It is cached, because calendar arithmetic costs more than all else in counting a
 * call.
 */
let lastMonth = { month: -1, startsAtMs: 0, endsAtMs: 0 };

function monthOf(timeMs: number): number {
  if (timeMs < lastMonth.startsAtMs || timeMs >= lastMonth.endsAtMs) {
    const date = new Date(timeMs);
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
    lastMonth = { month, startsAtMs: monthStartMs(month), endsAtMs: monthStartMs(month + 1) };
  }
  return lastMonth.month;
}

function monthStartMs(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}
