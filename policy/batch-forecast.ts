/**
 * Forecasts when the messages of batches leave. Virtual time goes from message to message, with the caps and reliefs of
 * the send policy. A message costs a few steps, because neither the ledger nor the clocks of a zone are read for it.
 */
import { HOUR_MS } from '../runtime/durations.ts';
import { BULK_RECIPIENTS_PER_HOUR } from './evaluate-message.ts';
import { ForecastWindows, roomMs } from './forecast-windows.ts';
import { type NetworkLimits, newChatBar, quotaShare } from './network-limits.ts';
import { dayIn, OpenHours, type QuietHours, quietUntilMs } from './quiet-hours.ts';
import type { SendLedger } from './send-ledger.ts';
import type { TenantSettings } from './tenant-settings.ts';
import { mediaFingerprint, textFingerprint } from './text-fingerprint.ts';

/** The rest of a batch, as far as a forecast needs it. */
export interface BatchPlan {
  /**
   * Recipients who wait: those who wrote at least once, customers who never wrote, and declared ones. The
   * first are `known` in `BatchClass`.
   */
  readonly wrote: number;
  readonly unheard: number;
  readonly declared: number;
  /**
   * The one content that all recipients get: its text, or else its attachment. If undefined, each recipient gets a
   * different content.
   */
  readonly sameContent:
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'file'; readonly mediaUrl: string }
    | undefined;
  readonly share: number;
  readonly quietHours: QuietHours | null;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** The sending number's state, and the moment at which a forecast begins. */
export interface ForecastFacts {
  readonly ledger: SendLedger;
  readonly network: NetworkLimits;
  readonly pairedAtMs: number | null;
  readonly settings: TenantSettings;
  /** Average time of one message with the gap after it, in milliseconds. */
  readonly eachMs: number;
  readonly nowMs: number;
}

/**
 * The times at which a batch's messages leave, in Unix milliseconds. They are null if none leaves. Days are counted in
 * the zone of its quiet hours, else in UTC.
 */
export interface BatchForecast {
  readonly firstAtMs: number | null;
  readonly lastAtMs: number | null;
  readonly days: readonly { readonly date: string; readonly count: number }[];
}

/** The part of each cap that a batch uses if its caller names none. */
export const DEFAULT_BATCH_SHARE = 0.7;

/** Most recipients that a batch passes over until they can be written to. */
export const MOST_POSTPONED = 64;

/** Returns the earliest moment from `nowMs` on at which a batch may send at all. */
export function batchOpensMs(
  { quietHours, notBeforeMs }: Pick<BatchPlan, 'quietHours' | 'notBeforeMs'>,
  nowMs: number,
): number {
  const fromMs = Math.max(nowMs, notBeforeMs);
  return quietHours === null ? fromMs : quietUntilMs(quietHours, fromMs);
}

/** Forecasts one of the batches of a number. At each moment, the first batch in their order that can send does. */
export class ForecastRun {
  readonly #batches: readonly PlannedBatch[];
  readonly #forecastBatch: PlannedBatch;
  readonly #eachMs: number;
  readonly #days: Days;
  #nowMs: number;

  /** `place` is the index of the forecast batch in `plans`. */
  constructor(plans: readonly BatchPlan[], place: number, facts: ForecastFacts) {
    const forecastPlan = plans[place];
    if (forecastPlan === undefined) throw new RangeError(`no plan has the place ${place}`);
    const sharedParts = {
      facts,
      windows: new ForecastWindows(facts.ledger, facts),
      newChats: { sentCount: 0 },
      sameMs: new Map(),
      openHours: new OpenHours(),
    };
    this.#batches = plans.map((plan) => new PlannedBatch(plan, sharedParts));
    this.#forecastBatch = this.#batches[place] as PlannedBatch;
    this.#eachMs = facts.eachMs;
    this.#nowMs = facts.nowMs;
    this.#days = new Days(forecastPlan.quietHours?.timeZone ?? 'UTC');
  }

  /** Advances by one message, or to the time of the next one. Returns false once the forecast is complete. */
  step(): boolean {
    if (this.#forecastBatch.left === 0) return false;
    const sender = this.#batches.find((batch) => batch.tryOnce(this.#nowMs));
    if (sender !== undefined) {
      if (sender === this.#forecastBatch) this.#days.count(this.#nowMs);
      this.#nowMs += this.#eachMs;
      return true;
    }
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { tryAtMs } of this.#batches) nextMs = Math.min(nextMs, tryAtMs);
    // None of the remaining messages can ever leave.
    if (this.#forecastBatch.isOver || nextMs === Number.POSITIVE_INFINITY) return false;
    this.#nowMs = nextMs;
    return true;
  }

  /** The forecast so far. */
  get forecast(): BatchForecast {
    return this.#days.forecast;
  }
}

/** The parts that batches of one number share. */
interface ForecastParts {
  readonly facts: ForecastFacts;
  readonly windows: ForecastWindows;
  readonly openHours: OpenHours;
  /** Messages to people who never wrote. */
  readonly newChats: { sentCount: number };
  /** When each content left, oldest first, by its fingerprint. Batches with the same content share its times. */
  readonly sameMs: Map<string, number[]>;
}

type LeftClass = 'wrote' | 'unheard' | 'declared';

const KINDS = ['declared', 'unheard', 'wrote'] as const;

/** One batch in virtual time. Recipient classes alternate as they would in an evenly mixed list. */
class PlannedBatch {
  readonly #plan: BatchPlan;
  readonly #shared: ForecastParts;
  readonly #left: Record<LeftClass, number>;
  /** When its one content left, from any batch, oldest first. */
  readonly #sameMs: number[] = [];
  /** Declared recipients who were passed over. */
  #postponed = 0;
  /** When it is worth trying again; `Infinity`: never. */
  tryAtMs: number;

  constructor(plan: BatchPlan, sharedParts: ForecastParts) {
    this.#plan = plan;
    this.#shared = sharedParts;
    this.#left = { wrote: plan.wrote, unheard: plan.unheard, declared: plan.declared };
    this.tryAtMs = plan.notBeforeMs;
    const { sameContent } = plan;
    if (sameContent === undefined) return;
    const { ledger, nowMs } = sharedParts.facts;
    const fingerprint =
      sameContent.kind === 'text'
        ? textFingerprint(sameContent.text)
        : mediaFingerprint(sameContent.mediaUrl);
    const key = `${fingerprint.high} ${fingerprint.low}`;
    const knownMs = sharedParts.sameMs.get(key);
    if (knownMs !== undefined) {
      this.#sameMs = knownMs;
      return;
    }
    // The number 0 belongs to no recipient.
    const { sameContentMs } = ledger.tallyMessages({ recipient: 0, fingerprint, nowMs });
    this.#sameMs.push(...sameContentMs.toReversed());
    sharedParts.sameMs.set(key, this.#sameMs);
  }

  get left(): number {
    const { wrote, unheard, declared } = this.#left;
    return wrote + unheard + declared + this.#postponed;
  }

  get isOver(): boolean {
    return this.tryAtMs === Number.POSITIVE_INFINITY;
  }

  /** Returns true if one of its messages leaves now. That message is then counted. */
  tryOnce(nowMs: number): boolean {
    if (nowMs < this.tryAtMs) return false;
    const { quietHours, share, notAfterMs } = this.#plan;
    if (this.left === 0 || nowMs > notAfterMs) {
      this.tryAtMs = Number.POSITIVE_INFINITY;
      return false;
    }
    const { openHours, windows } = this.#shared;
    if (quietHours !== null) this.tryAtMs = openHours.fromMs(quietHours, nowMs);
    if (this.tryAtMs > nowMs) return false;
    // The rule against one content to many. A batch of different contents has no times here.
    const bulkMs = roomMs(this.#sameMs, BULK_RECIPIENTS_PER_HOUR, HOUR_MS);
    const freeMs = bulkMs > nowMs ? bulkMs : windows.budgetMs(share, nowMs);
    if (freeMs > nowMs) {
      this.tryAtMs = wholeSeconds(nowMs, freeMs);
      return false;
    }
    return this.#tryClasses(nowMs);
  }

  #tryClasses(nowMs: number): boolean {
    let declaredMs = Number.POSITIVE_INFINITY;
    if (this.#postponed > 0 || this.#next() === 'declared') {
      declaredMs = this.#classMs('declared', nowMs);
      if (declaredMs <= nowMs) return this.#leave('declared', nowMs);
      while (this.#postponed < MOST_POSTPONED && this.#next() === 'declared') {
        this.#left.declared -= 1;
        this.#postponed += 1;
      }
    }
    const next = this.#next();
    const nextMs = next === undefined || next === 'declared' ? declaredMs : this.#classMs(next, nowMs);
    if (next !== undefined && nextMs <= nowMs) return this.#leave(next, nowMs);
    this.tryAtMs = wholeSeconds(nowMs, Math.min(nextMs, declaredMs));
    return false;
  }

  #leave(kind: LeftClass, nowMs: number): true {
    const { windows, newChats } = this.#shared;
    if (kind === 'declared' && this.#postponed > 0) this.#postponed -= 1;
    else this.#left[kind] -= 1;
    if (kind !== 'wrote') newChats.sentCount += 1;
    windows.record(kind === 'declared' ? 'declared' : 'known', nowMs);
    if (this.#plan.sameContent !== undefined) this.#sameMs.push(nowMs);
    return true;
  }

  /** Returns the class that an even mixture sends next: the one furthest behind. Undefined if no recipient is left. */
  #next(): LeftClass | undefined {
    let next: LeftClass | undefined;
    let behindCount = 0;
    for (const kind of KINDS) {
      const share = this.#left[kind] / this.#plan[kind];
      if (share > behindCount) {
        next = kind;
        behindCount = share;
      }
    }
    return next;
  }

  /** The first moment at which the limits of one class let it through. */
  #classMs(kind: LeftClass, nowMs: number): number {
    if (kind === 'wrote') return nowMs;
    const { facts, windows, newChats: ownNewChats } = this.#shared;
    const { share } = this.#plan;
    const { newChats } = facts.network;
    const acceptedNewChats = newChats && { ...newChats, accepted: newChats.accepted + ownNewChats.sentCount };
    const bar = newChatBar(quotaShare({ ...facts.network, newChats: acceptedNewChats }, share), nowMs);
    const barredMs = bar?.reliefMs ?? nowMs;
    return kind === 'declared' ? Math.max(barredMs, windows.declaredMs(share, nowMs)) : barredMs;
  }
}

/** Refusals name whole seconds (`retryAfterSeconds`), so a batch is retried after whole seconds. */
function wholeSeconds(nowMs: number, untilMs: number): number {
  return nowMs + Math.ceil((untilMs - nowMs) / 1_000) * 1_000;
}

/** Counts messages by the days of a zone. */
class Days {
  readonly #timeZone: string;
  readonly #counts = new Map<string, number>();
  #date = '';
  #sameUntilMs = Number.NEGATIVE_INFINITY;
  #firstAtMs: number | null = null;
  #lastAtMs: number | null = null;

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  count(atMs: number): void {
    if (atMs >= this.#sameUntilMs) {
      const day = dayIn(this.#timeZone, atMs);
      this.#date = day.date;
      this.#sameUntilMs = day.sameUntilMs;
    }
    this.#counts.set(this.#date, (this.#counts.get(this.#date) ?? 0) + 1);
    this.#firstAtMs ??= atMs;
    this.#lastAtMs = atMs;
  }

  get forecast(): BatchForecast {
    const days = [...this.#counts].map(([date, count]) => ({ date, count }));
    return { firstAtMs: this.#firstAtMs, lastAtMs: this.#lastAtMs, days };
  }
}
