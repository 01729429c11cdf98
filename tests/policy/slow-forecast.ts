import type { BatchForecast, BatchPlan, ForecastFacts } from '../../policy/batch-forecast.ts';
import { batchOpensMs, MOST_POSTPONED } from '../../policy/batch-forecast.ts';
import { evaluateMessage } from '../../policy/evaluate-message.ts';
import { dayIn } from '../../policy/quiet-hours.ts';

const KINDS = ['declared', 'unheard', 'wrote'] as const;
type Kind = (typeof KINDS)[number];

/** Forecasts like a `ForecastRun`, but the rules themselves judge each message. It uses up the ledger of `facts`. */
export function slowForecast(
  plans: readonly BatchPlan[],
  place: number,
  facts: ForecastFacts,
): BatchForecast {
  const sharedFacts = { facts, newChats: 0 };
  const runningBatches = plans.map((plan, index) => new SlowBatch(plan, index, sharedFacts));
  const askedBatch = runningBatches[place] as SlowBatch;
  const times: number[] = [];
  let { nowMs } = facts;
  while (askedBatch.left > 0) {
    const sender = runningBatches.find((batch) => batch.tryOnce(nowMs));
    if (sender !== undefined) {
      if (sender === askedBatch) times.push(nowMs);
      nowMs += facts.eachMs;
      continue;
    }
    const nextMs = Math.min(...runningBatches.map(({ tryAtMs }) => tryAtMs));
    if (nextMs === Number.POSITIVE_INFINITY) break;
    nowMs = Math.max(nextMs, nowMs + 1);
  }
  const days = new Map<string, number>();
  for (const atMs of times) {
    const { date } = dayIn(plans[place]?.quietHours?.timeZone ?? 'UTC', atMs);
    days.set(date, (days.get(date) ?? 0) + 1);
  }
  return {
    firstAtMs: times[0] ?? null,
    lastAtMs: times.at(-1) ?? null,
    days: [...days].map(([date, count]) => ({ date, count })),
  };
}

class SlowBatch {
  readonly #plan: BatchPlan;
  readonly #index: number;
  readonly #around: { readonly facts: ForecastFacts; newChats: number };
  readonly #left: Record<Kind, number>;
  #postponed = 0;
  #tried = 0;
  tryAtMs: number;

  constructor(
    plan: BatchPlan,
    index: number,
    sharedFacts: { readonly facts: ForecastFacts; newChats: number },
  ) {
    this.#plan = plan;
    this.#index = index;
    this.#around = sharedFacts;
    this.#left = { wrote: plan.wrote, unheard: plan.unheard, declared: plan.declared };
    this.tryAtMs = plan.notBeforeMs;
  }

  get left(): number {
    return this.#left.wrote + this.#left.unheard + this.#left.declared + this.#postponed;
  }

  tryOnce(nowMs: number): boolean {
    if (this.left === 0 || nowMs > this.#plan.notAfterMs) {
      this.tryAtMs = Number.POSITIVE_INFINITY;
      return false;
    }
    if (nowMs < this.tryAtMs) return false;
    this.tryAtMs = batchOpensMs(this.#plan, nowMs);
    return this.tryAtMs <= nowMs && this.#tryClasses(nowMs);
  }

  #tryClasses(nowMs: number): boolean {
    let declaredAtMs = Number.POSITIVE_INFINITY;
    if (this.#postponed > 0 || this.#next() === 'declared') {
      declaredAtMs = this.#admit('declared', nowMs);
      if (declaredAtMs <= nowMs) {
        if (this.#postponed > 0) this.#postponed -= 1;
        else this.#left.declared -= 1;
        return true;
      }
      while (this.#next() === 'declared' && this.#postponed < MOST_POSTPONED) {
        this.#left.declared -= 1;
        this.#postponed += 1;
      }
    }
    const next = this.#next();
    if (next === undefined || next === 'declared') {
      this.tryAtMs = declaredAtMs;
      return false;
    }
    const atMs = this.#admit(next, nowMs);
    if (atMs <= nowMs) {
      this.#left[next] -= 1;
      return true;
    }
    this.tryAtMs = Math.min(atMs, declaredAtMs);
    return false;
  }

  #next(): Kind | undefined {
    const countBehind = (kind: Kind): number =>
      this.#plan[kind] === 0 ? 0 : this.#left[kind] / this.#plan[kind];
    const most = Math.max(...KINDS.map(countBehind));
    return most === 0 ? undefined : KINDS.find((kind) => countBehind(kind) === most);
  }

  #admit(kind: Kind, nowMs: number): number {
    const { ledger, network, pairedAtMs, settings } = this.#around.facts;
    const { sameContent, share } = this.#plan;
    const { newChats } = network;
    this.#tried += 1;
    const evaluation = evaluateMessage(ledger, {
      recipient: `+9999${String(this.#index).padStart(3, '0')}${String(this.#tried).padStart(8, '0')}`,
      text:
        sameContent === undefined
          ? `${this.#index} ${this.#tried}`
          : sameContent.kind === 'text'
            ? sameContent.text
            : undefined,
      mediaUrl: sameContent?.kind === 'file' ? sameContent.mediaUrl : undefined,
      isCustomer: kind !== 'declared',
      lastInboundAtMs: kind === 'wrote' ? 0 : null,
      hasOptedOut: false,
      declaration: kind === 'declared' ? { expiresAtMs: null, isRevoked: false } : null,
      network: {
        ...network,
        newChats: newChats && { ...newChats, accepted: newChats.accepted + this.#around.newChats },
      },
      pairedAtMs,
      settings,
      share,
      nowMs,
    });
    if (evaluation.isAdmitted) {
      ledger.record(evaluation.entry);
      if (kind !== 'wrote') this.#around.newChats += 1;
      return nowMs;
    }
    const { retryAfterSeconds } = evaluation;
    return retryAfterSeconds === undefined ? Number.POSITIVE_INFINITY : nowMs + retryAfterSeconds * 1_000;
  }
}
