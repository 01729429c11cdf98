import type { LoadResult } from '../load/load-plan.ts';
import type { SideName } from './side.ts';

/** Figures of one run, by names that carry their units. */
export type Figures = Readonly<Record<string, number>>;

/** One run of one side. */
export interface Run {
  readonly side: string;
  readonly round: number;
  readonly figures: Figures;
}

/** The settings of a run. */
export interface BenchContext {
  /** Where sides may keep their files; the disk that `appendfsync always` waits for. */
  readonly directory: string;
  readonly rounds: number;
  /** How long each load is measured. */
  readonly seconds: number;
  /** Settings of single benches, as `--name=value`. */
  readonly setting: (name: string, fallback: number) => number;
  readonly progress: (text: string) => void;
}

/** One bench: what it measures, and how the result is to be read. */
export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Part of a plain `npm run bench`. */
  readonly isMain: boolean;
  /** The sides that the service is compared with, each with the ratio that must hold and the ratio aimed at. */
  readonly targets: readonly Target[];
  run(context: BenchContext): Promise<readonly Run[]>;
}

/** The service's throughput as a multiple of another side's, in the same round. */
export interface Target {
  readonly side: string;
  readonly against: SideName;
  readonly must: number;
  readonly aim: number;
}

/** A load as figures: throughput, latencies, CPU time a request by process, memory. Throws when anything was refused. */
export function figuresOf(result: LoadResult): Figures {
  const refused = Object.keys(result.byStatus).filter((status) => !status.startsWith('2'));
  if (refused.length > 0) {
    throw new Error(`not all requests were let through: ${JSON.stringify(result.byStatus)}`);
  }
  const { latencyMs, cpuMs, residentMiB, requests, durationMs } = result;
  const figures: Record<string, number> = {
    perSecond: result.perSecond,
    p50Ms: latencyMs.p50,
    p99Ms: latencyMs.p99,
    p999Ms: latencyMs.p999,
    serverBusyPercent: ((cpuMs.server ?? 0) * 100) / durationMs,
  };
  for (const [name, ms] of Object.entries(cpuMs)) figures[`${name}CpuUs`] = (ms * 1_000) / requests;
  for (const [name, mib] of Object.entries(residentMiB)) {
    if (name !== 'client') figures[`${name}MiB`] = mib;
  }
  return figures;
}
