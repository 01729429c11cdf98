/**
 * Breaks the promises of the runtime and of the tenants' events, one at a time in a copy. Expects the tests that
 * runtime/README.md and docs/promises.md name for each to fail. Run: npm run breakages [-- part of a name] Ends with
 * exit code 1 if one goes unnoticed.
 */
import { spawnSync } from 'node:child_process';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { type Case, cases } from './breakage-cases.ts';
import { brokenRuntime } from './broken-runtime.ts';

/** How long a test with nothing broken may take, on a busy machine too. */
const SOUND_MS = 10 * MINUTE_MS;
/** A test that takes this many times as long as with nothing broken, or two minutes where that is more, never ends. */
const ENDLESS = 4;

/** True if the test file ends red, or has not ended after `limitMs`. */
function isNoticed({ noticedBy, ...breakage }: Case, limitMs: number): boolean {
  const { layer = 'runtime' } = breakage;
  const copy = brokenRuntime(breakage);
  try {
    const args = ['--import', 'tsx', '--test-force-exit', `tests/${layer}/${noticedBy}`];
    const options = {
      cwd: copy.directory,
      stdio: 'ignore',
      timeout: limitMs,
      killSignal: 'SIGKILL',
    } as const;
    return spawnSync(process.execPath, args, options).status !== 0;
  } finally {
    copy.remove();
  }
}

const chosen = cases.filter(({ promise }) => promise.includes(process.argv[2] ?? ''));

/** A copy with nothing broken. A test that is red there proves nothing. */
const sound: readonly Case[] = [
  ...new Map(chosen.map(({ noticedBy, layer = 'runtime' }) => [noticedBy, layer])),
].map(([noticedBy, layer]) => ({
  promise: 'nothing is broken',
  layer,
  file: layer === 'runtime' ? 'limits.ts' : 'failure.ts',
  edits: [],
  noticedBy,
}));
const limits = new Map<string, number>();
for (const each of sound) {
  const startedMs = Date.now();
  if (isNoticed(each, SOUND_MS)) throw new Error(`${each.noticedBy} is red although nothing is broken`);
  limits.set(each.noticedBy, Math.max(120_000, ENDLESS * (Date.now() - startedMs)));
}

const unnoticed = chosen.filter((each) => {
  const noticed = isNoticed(each, limits.get(each.noticedBy) ?? SOUND_MS);
  console.log(`${noticed ? 'red  ' : 'GREEN'} ${each.promise}: ${each.noticedBy}`);
  return !noticed;
});
process.exit(unnoticed.length === 0 ? 0 : 1);
