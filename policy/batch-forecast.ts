/** When the messages of batches will be let through, found by asking the rules themselves in virtual time. */
import { MINUTE_MS } from './durations.ts';
import { evaluateMessage } from './evaluate-message.ts';
import type { NetworkLimits } from './network-limits.ts';
import { dateIn, type QuietHours, quietUntilMs } from './quiet-hours.ts';
import type { SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';

/** What is left of a batch, as far as a forecast asks. */
export interface BatchPlan {
  /** Recipients who wait, by class. */
  readonly known: number;
  readonly declared: number;
  /** The one text that all get; undefined: each gets another one. */
  readonly text: string | undefined;
  readonly share: number;
  readonly quietHours: QuietHours | null;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** The number that sends, and the moment from which a forecast looks ahead. */
export interface ForecastFacts {
  readonly ledger: SendLedger;
  readonly network: NetworkLimits;
  readonly pairedAtMs: number | null;
  readonly settings: TenantSettings;
  /** The time that one message takes, with the gap behind it. */
  readonly eachMs: number;
  readonly nowMs: number;
}

/** When a batch's messages leave, in Unix milliseconds; null: none does. Days by the clocks of its quiet hours, else in UTC. */
export interface BatchForecast {
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
  readonly days: readonly { readonly date: string; readonly count: number }[];
}

/** Recipients that a batch passes over until they can be written to. */
export const MOST_POSTPONED = 64;

/** The earliest moment from `nowMs` on at which a batch may send at all. */
export function batchOpensMs(
  { quietHours, notBeforeMs }: Pick<BatchPlan, 'quietHours' | 'notBeforeMs'>,
  nowMs: number,
): number {
  const fromMs = Math.max(nowMs, notBeforeMs);
  return quietHours === null ? fromMs : quietUntilMs(quietHours, fromMs);
}

/** Forecasts the last of these batches of one number; those before it go first wherever they can. */
export function forecastBatch(plans: readonly BatchPlan[], facts: ForecastFacts): BatchForecast {
  const ledger = facts.ledger.copy();
  const running = plans.map((plan, index) => new PlannedBatch(plan, index));
  const last = running.at(-1);
  const times: number[] = [];
  let nowMs = facts.nowMs;
  while (last !== undefined && last.left > 0) {
    const sender = running.find((batch) => batch.tryOnce(ledger, facts, nowMs));
    if (sender !== undefined) {
      if (sender === last) times.push(nowMs);
      nowMs += facts.eachMs;
      continue;
    }
    const nextMs = Math.min(...running.map((batch) => batch.tryAtMs));
    // Nothing that is left can ever leave.
    if (nextMs === Number.POSITIVE_INFINITY) break;
    nowMs = Math.max(nextMs, nowMs + 1);
  }
  return summary(times, plans.at(-1)?.quietHours?.timeZone ?? 'UTC');
}

function summary(times: readonly number[], timeZone: string): BatchForecast {
  const days = new Map<string, number>();
  let date = '';
  let sameDayUntilMs = 0;
  for (const atMs of times) {
    // Asking for the date of each would take most of the time.
    if (atMs >= sameDayUntilMs) {
      date = dateIn(timeZone, atMs);
      sameDayUntilMs = (Math.floor(atMs / QUARTER_MS) + 1) * QUARTER_MS;
    }
    days.set(date, (days.get(date) ?? 0) + 1);
  }
  return {
    firstAtMs: times[0] ?? null,
    lastAtMs: times.at(-1) ?? null,
    days: [...days].map(([day, count]) => ({ date: day, count })),
  };
}

const QUARTER_MS = 15 * MINUTE_MS;

/** One batch in virtual time. Classes take turns as they would in a list that mixes them evenly. */
class PlannedBatch {
  readonly #plan: BatchPlan;
  readonly #index: number;
  #known: number;
  #declared: number;
  /** Declared ones that were passed over. */
  #postponed = 0;
  #sent = 0;
  /** When it is worth trying again. */
  tryAtMs: number;

  constructor(plan: BatchPlan, index: number) {
    this.#plan = plan;
    this.#index = index;
    this.#known = plan.known;
    this.#declared = plan.declared;
    this.tryAtMs = plan.notBeforeMs;
  }

  get left(): number {
    return this.#known + this.#declared + this.#postponed;
  }

  /** Whether one of its messages leaves now; then it is in the ledger. */
  tryOnce(ledger: SendLedger, facts: ForecastFacts, nowMs: number): boolean {
    if (this.left === 0 || nowMs > this.#plan.notAfterMs) {
      this.tryAtMs = Number.POSITIVE_INFINITY;
      return false;
    }
    if (nowMs < this.tryAtMs) return false;
    const opensMs = batchOpensMs(this.#plan, nowMs);
    this.tryAtMs = opensMs;
    return opensMs <= nowMs && this.#tryClasses(ledger, facts, nowMs);
  }

  #tryClasses(ledger: SendLedger, facts: ForecastFacts, nowMs: number): boolean {
    let declaredAtMs = Number.POSITIVE_INFINITY;
    const triesDeclared = this.#postponed > 0 || this.#isDeclaredNext();
    if (triesDeclared) {
      declaredAtMs = this.#admit('declared', ledger, facts, nowMs);
      if (declaredAtMs <= nowMs) {
        if (this.#postponed > 0) this.#postponed -= 1;
        else this.#declared -= 1;
        return true;
      }
      while (this.#isDeclaredNext() && this.#postponed < MOST_POSTPONED) {
        this.#declared -= 1;
        this.#postponed += 1;
      }
    }
    if (this.#isDeclaredNext() || this.#known === 0) {
      this.tryAtMs = declaredAtMs;
      return false;
    }
    const knownAtMs = this.#admit('known', ledger, facts, nowMs);
    if (knownAtMs <= nowMs) {
      this.#known -= 1;
      return true;
    }
    this.tryAtMs = Math.min(knownAtMs, declaredAtMs);
    return false;
  }

  /** In an even mixture the next one is the one of the class that is further behind. */
  #isDeclaredNext(): boolean {
    if (this.#declared === 0) return false;
    return this.#declared * this.#plan.known >= this.#known * this.#plan.declared;
  }

  /** Counts one of the class where the rules let it through; when they will: `nowMs` where they did. */
  #admit(
    kind: 'known' | 'declared',
    ledger: SendLedger,
    { network, pairedAtMs, settings }: ForecastFacts,
    nowMs: number,
  ): number {
    const { text, share } = this.#plan;
    this.#sent += 1;
    const evaluation = evaluateMessage(ledger, {
      // Nobody has such a number.
      recipient: `+9999${String(this.#index).padStart(3, '0')}${String(this.#sent).padStart(8, '0')}`,
      text: text ?? `${this.#index} ${this.#sent}`,
      mediaUrls: [],
      isCustomer: kind === 'known',
      lastInboundAtMs: kind === 'known' ? 0 : null,
      optedOut: false,
      declaration: kind === 'known' ? null : { expiresAtMs: null, revoked: false },
      ...{ network, pairedAtMs, settings, share, nowMs },
    });
    if (evaluation.admitted) {
      ledger.record(evaluation.entry);
      return nowMs;
    }
    const { retryAfterSeconds } = evaluation;
    return retryAfterSeconds === undefined ? Number.POSITIVE_INFINITY : nowMs + retryAfterSeconds * 1_000;
  }
}
