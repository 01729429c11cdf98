/**
 * Runs the benches: see README.md beside this file. `npm run bench [-- names… --rounds=3 --seconds=5 --directory=/tmp
 * --against=<checkout> --sides=a,b --client=node --smoke …]`
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { comparisons } from './benches/compared.ts';
import { durableSends } from './benches/durable-sends.ts';
import { erasure } from './benches/erasure.ts';
import { firstSends } from './benches/first-sends.ts';
import { hostile } from './benches/hostile.ts';
import { hostileNames } from './benches/hostile-names.ts';
import { knownShops } from './benches/known-shops.ts';
import { liveSessions } from './benches/live-sessions.ts';
import { manySessions } from './benches/many-sessions.ts';
import { month } from './benches/month.ts';
import { overload } from './benches/overload.ts';
import { serviceBenches } from './benches/service-alone.ts';
import { storms } from './benches/storms.ts';
import { waitingReaders } from './benches/waiting-readers.ts';
import { wholeSoak } from './benches/whole-soak.ts';
import { wholeWay } from './benches/whole-way.ts';
import { type Bench, type BenchContext, EndedEarly, type Run } from './harness/bench.ts';
import { build, buildOf, OWN_BUILD } from './harness/build.ts';
import { buildRatios, runByTurns } from './harness/compared-builds.ts';
import { PINNING } from './harness/cores.ts';
import { plotOf } from './harness/plot.ts';
import { tableOf } from './harness/table.ts';
import { brokenLimits, judge } from './harness/targets.ts';
import { hasWrk } from './harness/wrk.ts';

const benches: readonly Bench[] = [
  ...comparisons,
  ...serviceBenches,
  durableSends,
  erasure,
  firstSends,
  hostile,
  hostileNames,
  knownShops,
  liveSessions,
  manySessions,
  month,
  overload,
  storms,
  waitingReaders,
  wholeSoak,
  wholeWay,
];
const words = process.argv.slice(2);
const settings = new Map(
  words.filter((word) => word.startsWith('--')).map((word) => word.slice(2).split('=') as [string, string]),
);
if (settings.has('help')) {
  console.log(`npm run bench -- [names] [--rounds=3] [--seconds=5] [--smoke] …: the main benches where no name is given.
bench/README.md lists the options. The benches: ${benches.map(({ name }) => name).join(', ')}`);
  process.exit();
}
const chosenBenches = chooseBenches(words.filter((word) => !word.startsWith('--')));
/**
 * Further settings of `--smoke`, with one round of one second. It only shows that a bench starts; its figures mean
 * nothing.
 */
const SMALLEST: Readonly<Record<string, number>> = {
  rounds: 1,
  seconds: 1,
  shops: 50,
  minutes: 0.05,
  rate: 20,
  rest: 1,
  sessions: 2,
  'each-minute': 60,
  refused: 1,
  inbound: 4,
  ramp: 1,
  readers: 100,
  events: 1_000,
};
const isSmoke = settings.has('smoke');
const setting = (name: string, fallback: number): number =>
  Number(settings.get(name) ?? (isSmoke ? (SMALLEST[name] ?? fallback) : fallback));
const directory = mkdtempSync(join(settings.get('directory') ?? tmpdir(), 'bench-'));
const isTerminal = process.stderr.isTTY;
const rateClient = settings.get('client') !== 'node' && hasWrk() ? 'wrk' : 'node';
const sides = settings.get('sides');
const progress = (text: string): void =>
  void process.stderr.write(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);

interface Result {
  readonly bench: Bench;
  readonly runs: readonly Run[];
  /** Why it ended before all was measured. */
  readonly failure?: string;
}

const results: Result[] = [];
try {
  progress('compiling');
  build();
  const other = settings.get('against');
  const against = other === undefined ? undefined : buildOf(other);
  const context: BenchContext = {
    directory,
    rounds: setting('rounds', 3),
    seconds: setting('seconds', 5),
    build: OWN_BUILD,
    against,
    sides: sides === undefined ? undefined : new Set(sides.split(',')),
    rateClient,
    setting,
    progress,
  };
  for (const bench of chosenBenches) {
    const byTurns = against !== undefined && bench.comparesBuilds !== true;
    const measured = byTurns ? runByTurns(bench, context, against) : bench.run(context);
    const result = await measured.then((runs): Result => ({ bench, runs }), partial(bench));
    const { runs } = result;
    results.push(result);
    if (isTerminal) progress('');
    console.log(tableOf(bench, runs, against === undefined ? [] : buildRatios(runs)));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${PINNING}, Node ${process.version}`,
);
if (settings.has('against')) console.log(`other-build: ${resolve(settings.get('against') ?? '')}`);
console.log(
  rateClient === 'wrk'
    ? 'Loads at one rate for all sides, and the first sends, came from wrk; all others from the client in Node.'
    : 'wrk is not installed or not asked for, so every load came from the client in Node.',
);
console.log(`Every value: ${save()}`);
// The figures of a smoke run mean nothing.
const brokenResults = isSmoke
  ? []
  : results.filter(({ bench, runs }) => brokenLimits(judge(bench.targets, runs)).length > 0);
const failures = results.flatMap(({ failure = [] }) => failure);
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;
if (brokenResults.length > 0) {
  console.error(`limits were broken: ${brokenResults.map(({ bench }) => bench.name).join(', ')}`);
  process.exitCode = 1;
}

/** Keeps the figures that a bench measured before it failed. Any other error is thrown. */
function partial(bench: Bench): (error: unknown) => Result {
  return (error) => {
    if (!(error instanceof EndedEarly)) throw error;
    return { bench, runs: error.runs, failure: `${bench.name} ended early, ${error.message}` };
  };
}

/** Returns the benches that are named, or the main ones if none is. */
function chooseBenches(names: readonly string[]): readonly Bench[] {
  const unknownNames = names.filter((name) => !benches.some((bench) => bench.name === name));
  if (unknownNames.length > 0) {
    console.error(
      `no bench is called ${unknownNames.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}`,
    );
    process.exit(2);
  }
  return names.length === 0
    ? benches.filter(({ isMain }) => isMain)
    : benches.filter(({ name }) => names.includes(name));
}

/** Writes all values as JSON and the throughputs as a plot. Returns the path of the JSON. */
function save(): string {
  const folder = resolve(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, new Date().toISOString().replace(/[:.]/g, '-'));
  const machine = {
    processor: cpus()[0]?.model,
    cores: cpus().length,
    pinning: PINNING,
    node: process.version,
    rateClient,
  };
  const benches = results.map(({ bench, runs, failure }) => ({
    bench: bench.name,
    title: bench.title,
    targets: judge(bench.targets, runs),
    runs,
    failure,
  }));
  writeFileSync(`${path}.json`, `${JSON.stringify({ machine, words, benches }, null, 2)}\n`);
  writeFileSync(`${path}.svg`, plotOf(results));
  return `${path}.json`;
}
