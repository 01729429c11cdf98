/**
 * Breaks the promises of the runtime and of the tenants' events, one at a time in a copy. Expects the tests that
 * runtime/README.md and docs/promises.md name for each to fail. Run: npm run breakages [-- part of a name] Ends with
 * exit code 1 if one goes unnoticed.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { passes } from '../testbed/passes.ts';
import { type Case, cases } from './breakage-cases.ts';
import { brokenRuntime } from './broken-runtime.ts';

/** How long a test with nothing broken may take, on a busy machine too. */
const SOUND_MS = 10 * MINUTE_MS;
/** A test that takes this many times as long as with nothing broken, or two minutes where that is more, never ends. */
const ENDLESS = 4;

/** So many tests run at once: they wait for processes most of their time. */
const AT_ONCE = 3;

/** True if the test file has a failure, or has not ended after `limitMs`. */
async function isNoticed({ noticedBy, ...breakage }: Case, limitMs: number): Promise<boolean> {
  const { layer = 'runtime' } = breakage;
  const copy = brokenRuntime(breakage);
  // A killed test removes nothing, so its temporary files are in the copy.
  const temporary = join(copy.directory, 't');
  mkdirSync(temporary);
  try {
    const node = ['env', `TMPDIR=${temporary}`, process.execPath, '--import', 'tsx'] as const;
    const test = ['--test-reporter=tap', '--test-force-exit', `tests/${layer}/${noticedBy}`];
    return !(await passes([...node, ...test], { cwd: copy.directory, limitMs }));
  } finally {
    copy.remove();
  }
}

/** Does this with all, so many at once. */
async function eachAtOnce<T>(all: readonly T[], action: (each: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await action(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
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
await eachAtOnce(sound, async (each) => {
  const startedMs = Date.now();
  if (await isNoticed(each, SOUND_MS)) throw new Error(`${each.noticedBy} is red although nothing is broken`);
  limits.set(each.noticedBy, Math.max(120_000, ENDLESS * (Date.now() - startedMs)));
});

let unnoticed = 0;
await eachAtOnce(chosen, async (each) => {
  const noticed = await isNoticed(each, limits.get(each.noticedBy) ?? SOUND_MS);
  console.log(`${noticed ? 'red  ' : 'GREEN'} ${each.promise}: ${each.noticedBy}`);
  if (!noticed) unnoticed += 1;
});
process.exit(unnoticed === 0 ? 0 : 1);
