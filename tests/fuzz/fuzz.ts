/**
 * `npm run fuzz -- --minutes=60 [--seed=…] [--target=…] [--case=…]`: broken and made-up input at each edge that parses
 * what others wrote. Prints the seed, each defect with its input, and the cases tried by target. `--case` tries that
 * one case of `--target` again. Exits 1 when a promise is broken.
 */
import { parseArgs } from 'node:util';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import type { TargetReport } from './fuzz-target.ts';
import { runFuzz } from './run-fuzz.ts';
import { FUZZ_TARGETS } from './targets.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seed: { type: 'string' },
    target: { type: 'string' },
    case: { type: 'string' },
  },
});
const seed = Number(values.seed ?? testEnvironment().seed);
const minutes = Number(values.minutes ?? 1);
const targets = FUZZ_TARGETS.filter(({ name }) => values.target === undefined || name === values.target);
if (targets.length === 0)
  throw new Error(`--target is one of ${FUZZ_TARGETS.map(({ name }) => name).join(', ')}`);
const one = values.case === undefined ? undefined : Number(values.case);
/** A target is restarted after this time, so that leftovers of its cases do not slow the next ones down. */
const LONGEST_SLICE_MS = 5 * MINUTE_MS;
const sliceMs = Math.min((minutes * MINUTE_MS) / targets.length, LONGEST_SLICE_MS);
const untilMs = performance.now() + minutes * MINUTE_MS;

console.log(`seed ${seed}, ${one === undefined ? `${minutes} minutes` : `case ${one}`}`);
const reports = new Map<string, TargetReport>();
do {
  for (const target of targets) {
    const reportBefore = reports.get(target.name) ?? { target: target.name, cases: 0, defects: [] };
    let sliceEndsMs: number | undefined;
    const report = await runFuzz(target, {
      seed,
      first: one ?? reportBefore.cases,
      goesOn(cases) {
        sliceEndsMs ??= performance.now() + sliceMs;
        return one === undefined ? performance.now() < sliceEndsMs : cases < 1;
      },
      found: ({ number, what, input }) =>
        console.log(`${target.name}, case ${number}: ${what}\n  input: ${input}`),
    });
    const { cases, defects } = report;
    reports.set(target.name, {
      ...reportBefore,
      cases: reportBefore.cases + cases,
      defects: [...reportBefore.defects, ...defects],
    });
    console.log(
      `${target.name}: ${reportBefore.cases + cases} cases, ${reportBefore.defects.length + defects.length} defects`,
    );
  }
} while (one === undefined && performance.now() + sliceMs < untilMs);

const allReports = [...reports.values()];
for (const { target, cases, defects } of allReports)
  console.log(`${target.padEnd(10)} ${String(cases).padStart(9)} cases  ${defects.length} defects`);
process.exit(allReports.every(({ defects }) => defects.length === 0) ? 0 : 1);
