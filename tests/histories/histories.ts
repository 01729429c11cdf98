/**
 * `npm run test:histories -- --seed=… --minutes=…`: callers, operators, customers and faults at random, then a check of
 * everything that was noticed from outside. Prints the counts, and for each broken promise the history about it. Then
 * it searches for the shortest prefix that breaks each promise, and prints that. Exits 1 if a promise is broken.
 * `--told=<seconds>`: how long it waits at the end for the last events.
 */
import { parseArgs } from 'node:util';
import { testEnvironment } from '../testbed/test-environment.ts';
import { report, shortestPrefixes } from './report.ts';
import { runHistory } from './run-history.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string' }, told: { type: 'string' } },
});
const seed = Number(values.seed ?? testEnvironment().seed);
const minutes = Number(values.minutes ?? 1);
const startedMs = performance.now();
/** Resolves when the text has been written: a search that follows keeps the process busy. */
const print = (text: string): Promise<void> =>
  new Promise((written) => {
    process.stdout.write(`${text}\n`, () => written());
  });
const say = (line: string): void =>
  console.log(`${String(Math.round((performance.now() - startedMs) / 1_000)).padStart(5)} s  ${line}`);

say(`seed ${seed}, ${minutes} minutes`);
const toldMs = values.told === undefined ? undefined : Number(values.told) * 1_000;
const run = await runHistory({ seed, minutes, toldMs, say });
await print(report(run));
if (run.violations.length > 0) say('searching for the shortest prefixes');
for (const prefix of shortestPrefixes(run)) await print(prefix);
process.exit(run.violations.length === 0 ? 0 : 1);
