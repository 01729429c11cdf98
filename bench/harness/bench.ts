import type { LoadResult } from '../load/load-plan.ts';
import type { Build } from './build.ts';

/** Figures of one run, by names that carry their units. */
export type Figures = Readonly<Record<string, number>>;

/** One run of one side. */
export interface Run {
  readonly side: string;
  readonly round: number;
  readonly figures: Figures;
}

/** A figure of one side as a multiple of another side's, in the same round. */
export interface RatioTarget {
  readonly kind: 'at least' | 'at most';
  readonly side: string;
  readonly against: string;
  /** A CPU time with `at least` compares requests a second of CPU time: the other side's time by this one's. */
  readonly figure: 'perSecond' | 'serverCpuUs' | 'totalCpuUs';
  readonly must: number;
  readonly aim: number;
}

/** A bound for a figure itself. The worst row of all sides counts, or of `sides`. */
export interface BoundTarget {
  readonly kind: 'never over' | 'never under';
  readonly figure: string;
  readonly sides?: readonly string[];
  readonly must: number;
  readonly aim: number;
}

/** A target for a bench's result. */
export type Target = RatioTarget | BoundTarget;

/** The client that makes the requests of a load: Node, or the C program `wrk`. */
export type LoadClient = 'node' | 'wrk';

/** The settings of a run. */
export interface BenchContext {
  /** The folder for sides' files, on the disk that `appendfsync always` waits for. */
  readonly directory: string;
  readonly rounds: number;
  /** How long each load is measured. */
  readonly seconds: number;
  /** The service that is measured. */
  readonly build: Build;
  /** The build to compare with, for a bench that `comparesBuilds`. Undefined if there is none. */
  readonly against: Build | undefined;
  /** The sides of a comparison to run. If undefined, all. */
  readonly sides: ReadonlySet<string> | undefined;
  /** The client that makes the requests if all sides are asked at one rate. */
  readonly rateClient: LoadClient;
  /** Settings of single benches, as `--name=value`. */
  readonly setting: (name: string, fallback: number) => number;
  readonly progress: (text: string) => void;
}

/** One bench: its measurement, and how to read the result. */
export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Part of a plain `npm run bench`. */
  readonly isMain: boolean;
  /** Targets for the result. */
  readonly targets: readonly Target[];
  /** True if the bench lets both builds take turns by itself. Any other is run once for each build and round. */
  readonly comparesBuilds?: boolean;
  run(context: BenchContext): Promise<readonly Run[]>;
}

/** A bench that ended before all was measured. `runs` are the figures until then. */
export class EndedEarly extends Error {
  readonly runs: readonly Run[];

  constructor(subject: string, runs: readonly Run[], cause: unknown) {
    super(`${subject}: ${reasonOf(cause)}`, { cause });
    this.name = 'EndedEarly';
    this.runs = runs;
  }
}

/** Returns the messages of an error and its causes. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/**
 * Returns a load as figures: throughput, latencies, CPU time a request by process, memory. Throws if anything was
 * refused, or fewer than `least` requests were answered.
 */
export function figuresOf(result: LoadResult, least = 1): Figures {
  const refusedStatuses = Object.keys(result.byStatus).filter((status) => !status.startsWith('2'));
  if (refusedStatuses.length > 0)
    throw new Error(`not all requests were let through: ${JSON.stringify(result.byStatus)}`);
  const { latencyMs, cpuMs, residentMiB, requests, durationMs } = result;
  if (requests < least) throw new Error(`${requests} requests were answered in time, and not ${least}`);
  const figures: Record<string, number> = {
    perSecond: result.perSecond,
    p50Ms: latencyMs.p50,
    p99Ms: latencyMs.p99,
    p999Ms: latencyMs.p999,
    serverBusyPercent: ((cpuMs.server ?? 0) * 100) / durationMs,
  };
  let totalMs = 0;
  for (const [name, ms] of Object.entries(cpuMs)) {
    figures[`${name}CpuUs`] = (ms * 1_000) / requests;
    if (name !== 'client') totalMs += ms;
  }
  // CPU that a deployment pays for: every server and Redis.
  figures.totalCpuUs = (totalMs * 1_000) / requests;
  for (const [name, mib] of Object.entries(residentMiB)) {
    if (name !== 'client') figures[`${name}MiB`] = mib;
  }
  return figures;
}
