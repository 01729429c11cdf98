import { execFileSync } from 'node:child_process';

/** The result of one run of one side: names with their units, and the figures. */
export type Figures = Readonly<Record<string, number>>;

/**
 * Runs a bench file once for each side and round, each time in a fresh process. The sides alternate, so a change in the
 * machine's speed affects all of them alike. Prints every raw figure, then the median of each.
 */
export function alternate(bench: {
  readonly file: string;
  readonly sides: readonly string[];
  readonly rounds: number;
}): void {
  const runs = new Map<string, Figures[]>(bench.sides.map((side) => [side, []]));
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const [side, figures] of runs) {
      const flags = ['--expose-gc', '--import', 'tsx', bench.file, `--side=${side}`];
      const output = execFileSync(process.execPath, flags, { encoding: 'utf8' });
      figures.push(JSON.parse(output) as Figures);
      console.log(`round ${round} ${side.padEnd(24)} ${output.trim()}`);
    }
  }
  for (const [side, figures] of runs) {
    for (const name of Object.keys(figures[0] ?? {})) {
      const values = figures.map((figure) => figure[name] as number).sort((left, right) => left - right);
      const middle = values[Math.floor(values.length / 2)] as number;
      console.log(`median ${side.padEnd(24)} ${name.padEnd(36)} ${middle} [${values[0]}–${values.at(-1)}]`);
    }
  }
}

/** Returns the side that this process was started for, or `undefined` in the process that starts the others. */
export function sideToRun(): string | undefined {
  const prefix = '--side=';
  return process.argv.find((text) => text.startsWith(prefix))?.slice(prefix.length);
}

/** Bytes in use, on and off V8's heap, after a full collection. Needs `--expose-gc`. */
export function bytesInUse(): number {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * Returns the median nanoseconds of an operation. It times batches of `batch` calls, because one call is shorter than
 * the clock's tick. The first fifth is the warm-up and does not count.
 */
export function medianNs(run: {
  readonly batches: number;
  readonly batch: number;
  readonly call: (index: number) => void;
}): number {
  const times: number[] = [];
  for (let batch = 0; batch < run.batches; batch += 1) {
    const startedNs = process.hrtime.bigint();
    for (let index = 0; index < run.batch; index += 1) run.call(batch * run.batch + index);
    times.push(Number(process.hrtime.bigint() - startedNs) / run.batch);
  }
  const settled = times.slice(Math.floor(times.length / 5)).sort((left, right) => left - right);
  return Math.round(settled[Math.floor(settled.length / 2)] as number);
}
