import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../harness/percentile.ts';
import { residentMiB, type Usage, usageOf, usedBetween } from '../harness/process-usage.ts';
import { HttpConnection } from './http-connection.ts';
import type { LoadPlan, LoadResult } from './load-plan.ts';
import { type RequestSource, requestSource } from './request-source.ts';

/** Default of `keptMessages`. */
const KEPT_MESSAGES = 1_000;

/** The figures so far. */
class Counters {
  readonly byStatus: Record<string, number> = {};
  readonly messages: { id: string; key: string }[] = [];
  #latenciesMs = new Float64Array(1 << 16);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(status: number, latencyMs: number): void {
    this.byStatus[status] = (this.byStatus[status] ?? 0) + 1;
    if (this.#count === this.#latenciesMs.length) {
      const larger = new Float64Array(2 * this.#count);
      larger.set(this.#latenciesMs);
      this.#latenciesMs = larger;
    }
    this.#latenciesMs[this.#count] = latencyMs;
    this.#count += 1;
  }

  /** Latencies in order of arrival. */
  latenciesMs(from = 0, to = this.#count): Float64Array {
    return this.#latenciesMs.slice(from, to);
  }
}

/** Runs a load and returns its result. Rejects if a connection is lost. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  let lose: (error: Error) => void = () => undefined;
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  const connections = await Promise.all(
    Array.from({ length: plan.connections }, (_, index) =>
      HttpConnection.open(plan.ports[index % plan.ports.length] as number, (error) => lose(error)),
    ),
  );
  const source = requestSource(plan);
  const counters = new Counters();
  const overloaded = new Counters();
  const fromWrite = new Counters();
  const startedMs = performance.now();
  const run: Run = {
    source,
    counters,
    overloaded,
    fromWrite,
    mayOverload: plan.mayOverload ?? false,
    lastOverloadedMs: startedMs,
    startedMs,
    measureFromMs: startedMs + plan.warmupMs,
    endMs: startedMs + plan.warmupMs + plan.durationMs,
    atMost: plan.atMost ?? Number.POSITIVE_INFINITY,
    keptMessages: plan.keptMessages ?? KEPT_MESSAGES,
  };
  const watched = { ...plan.watch, client: process.pid };
  const before = delay(plan.warmupMs).then(() => usageOf(watched));
  const load =
    plan.ratePerSecond === undefined
      ? Promise.all(connections.map((connection) => closedLoop(connection, run)))
      : openLoop(connections, run, plan.ratePerSecond);
  const [watchedPid = process.pid] = Object.values(plan.watch);
  let mostResidentMiB = residentMiB(watchedPid);
  const looking = setInterval(() => {
    mostResidentMiB = Math.max(mostResidentMiB, residentMiB(watchedPid));
  }, 1_000);
  await Promise.race([lost, load]);
  const tookMs = performance.now() - run.measureFromMs;
  clearInterval(looking);
  const after = usageOf(watched);
  for (const connection of connections) connection.close();
  return { ...result(tookMs, run, usedBetween(await before, after)), mostResidentMiB };
}

interface Run {
  readonly source: RequestSource;
  readonly counters: Counters;
  readonly overloaded: Counters;
  readonly fromWrite: Counters;
  readonly mayOverload: boolean;
  lastOverloadedMs: number;
  readonly startedMs: number;
  readonly measureFromMs: number;
  readonly endMs: number;
  readonly atMost: number;
  readonly keptMessages: number;
}

/** Sends the next as soon as the last was answered, until the time is up or there is nothing left to ask for. */
function closedLoop(connection: HttpConnection, run: Run): Promise<void> {
  const { source } = run;
  return new Promise((resolve) => {
    const next = (): void => {
      const sentMs = performance.now();
      if (sentMs >= run.endMs || run.counters.count >= run.atMost || source.isOver()) {
        resolve();
        return;
      }
      const request = source.next();
      const number = source.made() - 1;
      connection.send(request, (status, text, bodyAt) => {
        note(run, { status, text, bodyAt, sinceMs: sentMs, sentMs, number });
        next();
      });
    };
    next();
  });
}

/**
 * Sends on schedule. A request that finds no free connection waits. Its latency starts when it was due, so the wait
 * counts (no coordinated omission). The timer's lag of up to a millisecond counts too.
 */
function openLoop(connections: readonly HttpConnection[], run: Run, ratePerSecond: number): Promise<void> {
  const { source } = run;
  const free = [...connections];
  const startedMs = performance.now();
  let sent = 0;
  return new Promise((resolve) => {
    const pump = (): void => {
      const dueCount = Math.floor(
        ((Math.min(performance.now(), run.endMs) - startedMs) * ratePerSecond) / 1_000,
      );
      while (sent < dueCount && free.length > 0) {
        // The one that rested longest: a server closes those that rest for long.
        const connection = free.shift() as HttpConnection;
        sent += 1;
        const sinceMs = startedMs + (sent * 1_000) / ratePerSecond;
        const sentMs = performance.now();
        const request = source.next();
        const number = source.made() - 1;
        connection.send(request, (status, text, bodyAt) => {
          note(run, { status, text, bodyAt, sinceMs, sentMs, number });
          free.push(connection);
          pump();
        });
      }
      const isOver = performance.now() >= run.endMs && sent >= dueCount && free.length === connections.length;
      if (isOver) finish();
    };
    const timer = setInterval(pump, 1);
    const finish = (): void => {
      clearInterval(timer);
      resolve();
    };
  });
}

function note(
  run: Run,
  reply: {
    status: number;
    text: string;
    bodyAt: number;
    /** When it was due, and when it was written. */
    sinceMs: number;
    sentMs: number;
    number: number;
  },
): void {
  const { counters, source, measureFromMs } = run;
  const { status, text, bodyAt, sinceMs, sentMs, number } = reply;
  if (sinceMs < measureFromMs) return;
  if (run.mayOverload && isOverloaded(status, text)) {
    run.lastOverloadedMs = performance.now();
    run.overloaded.add(status, run.lastOverloadedMs - sinceMs);
    return;
  }
  const nowMs = performance.now();
  counters.add(status, nowMs - sinceMs);
  run.fromWrite.add(status, nowMs - sentMs);
  if (status !== 202) return;
  const idAt = text.indexOf('"id":"', bodyAt) + 6;
  counters.messages.push({ id: text.slice(idAt, text.indexOf('"', idAt)), key: source.keyOf(number) });
  if (counters.messages.length > 2 * run.keptMessages) counters.messages.splice(0, run.keptMessages);
}

function isOverloaded(status: number, text: string): boolean {
  return status === 503 && text.includes('"OVERLOADED"') && /\r\nretry-after: \d/i.test(text);
}

function result(
  durationMs: number,
  { source, counters, fromWrite, overloaded, lastOverloadedMs, startedMs, keptMessages }: Run,
  used: Usage,
): Omit<LoadResult, 'mostResidentMiB'> {
  const sorted = counters.latenciesMs().sort();
  const { count } = counters;
  const tenth = Math.floor(count / 10);
  return {
    requests: count,
    durationMs,
    perSecond: (count * 1_000) / durationMs,
    byStatus: counters.byStatus,
    latencyMs: {
      p50: percentile(sorted, 0.5),
      p90: percentile(sorted, 0.9),
      p99: percentile(sorted, 0.99),
      p999: percentile(sorted, 0.999),
      max: percentile(sorted, 1),
    },
    p99FromWriteMs: percentile(fromWrite.latenciesMs().sort(), 0.99),
    overloaded: {
      count: overloaded.count,
      p99Ms: percentile(overloaded.latenciesMs().sort(), 0.99),
      lastMs: lastOverloadedMs - startedMs,
    },
    p99ByTenthMs: Array.from({ length: 10 }, (_, index) =>
      percentile(counters.latenciesMs(index * tenth, (index + 1) * tenth).sort(), 0.99),
    ),
    ...used,
    made: source.made(),
    messages: counters.messages.slice(-keptMessages),
  };
}
