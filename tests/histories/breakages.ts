/**
 * `npm run test:histories:breakages [-- part of a promise]`: breaks the service in a copy, one promise at a time, and
 * expects a short history to notice. Ends with exit code 1 if one goes unnoticed.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { root } from '../testbed/root.ts';
import { brokenSource, type ServiceBreakage, serviceBreakages } from './service-breakages.ts';

const COPIED = [
  'runtime',
  'policy',
  'actors',
  'http',
  'service',
  'simulator',
  'tests',
  'package.json',
  'tsconfig.json',
];
const LINKED = ['node_modules', 'client'];
/** Long enough for several shops of each tenant. */
const MINUTES = 0.75;
/** A lost event is waited for no longer. */
const TOLD_SECONDS = 20;
/** The longest time of a history and its end on a busy machine. */
const AT_MOST_MS = 20 * MINUTE_MS;

/** Runs a history of a copy that is broken so; what it wrote. */
function historyOf(breakage: Pick<ServiceBreakage, 'file' | 'edits'>): string {
  const copy = mkdtempSync(join(tmpdir(), 'broken-service-'));
  try {
    for (const path of COPIED)
      cpSync(join(root, path), join(copy, path), { recursive: true, verbatimSymlinks: true });
    for (const path of LINKED) symlinkSync(join(root, path), join(copy, path));
    writeFileSync(join(copy, breakage.file), brokenSource(breakage));
    const words = [
      '--import',
      'tsx',
      'tests/histories/histories.ts',
      '--seed=1',
      `--minutes=${MINUTES}`,
      `--told=${TOLD_SECONDS}`,
    ];
    const options = { cwd: copy, encoding: 'utf8', timeout: AT_MOST_MS, killSignal: 'SIGKILL' } as const;
    const { stdout, stderr } = spawnSync(process.execPath, words, options);
    return `${stdout}\n${stderr}`;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const brokenIn = (report: string): string[] => [
  ...new Set([...report.matchAll(/^BROKEN: ([^:]+):/gm)].map(([, promise = '']) => promise)),
];

const asked = process.argv[2] ?? '';
let failed = false;
for (const { promise, alsoBreaks = promise, ...breakage } of serviceBreakages.filter((breakage) =>
  breakage.promise.includes(asked),
)) {
  const report = historyOf(breakage);
  const found = brokenIn(report);
  const isNoticed = found.includes(promise) || found.includes(alsoBreaks);
  failed ||= !isNoticed;
  // A history that did not get to its end proves nothing.
  const came = report.includes('| What | Count |');
  console.log(
    `${isNoticed ? 'red  ' : came ? 'GREEN' : 'NO END'} ${promise}: ${breakage.file}; found: ${found.join('; ')}`,
  );
  if (!isNoticed) console.log(report);
}
process.exit(failed ? 1 : 0);
