/**
 * Mutation check of `policy/`: breaks one thing at a time in a copy and expects the tests to notice. Run `npm run
 * mutants [-- --only=<part of a file name>] [--first=<how many>] [--jobs=2]`. Ends with exit code 1 if a mutant
 * survives that is not in `mutants-that-live.ts`, or if an entry there has no mutant. Mutants that are listed there are
 * not tried. It runs on Node 24, which reads TypeScript itself: most of a mutant's time is the start of a test's
 * process.
 */

import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { memoize } from '../../runtime/memoize.ts';
import { passes } from '../testbed/passes.ts';
import { root } from '../testbed/root.ts';
import { DURATIONS, explains, type Mutant, mutantsOf, policyFiles } from './mutants-of.ts';
import { type LivingMutants, livingMutants } from './mutants-that-live.ts';

/** The slow files are last, because most mutants are noticed by the tables of the others. */
const slowTestFiles = [
  'text-fingerprint.test.ts',
  'evaluate-sequences.test.ts',
  'key-limits.test.ts',
  'batch-forecast.alone.test.ts',
];
/**
 * A test that computes for so long counts as failed: the mutant made an endless loop. Without a mutant the slow files
 * compute for one second at most, and the others for half a second. The limit is CPU time, so that a busy machine kills
 * no mutant.
 */
const cpuSecondsOf = (test: string): number => (slowTestFiles.includes(test) ? 6 : 3);

/** A tree with `policy/` and its tests, in which one mutant lives at a time. */
class Cage {
  readonly #directory = mkdtempSync(join(tmpdir(), 'policy-mutant-'));

  constructor() {
    for (const folder of ['policy', 'runtime', 'tests/policy', 'tests/testbed'])
      cpSync(join(root, folder), join(this.#directory, folder), { recursive: true });
    for (const file of ['package.json', 'tsconfig.json'])
      cpSync(join(root, file), join(this.#directory, file));
    for (const shared of ['node_modules', 'service'])
      symlinkSync(join(root, shared), join(this.#directory, shared));
    process.once('exit', () => rmSync(this.#directory, { recursive: true }));
  }

  /** Throws if a test fails without a mutant. It would seem to notice every mutant. */
  async mustPassUnbroken(test: string): Promise<void> {
    if (provenTests.has(test)) return;
    if (!(await this.#passes(test))) throw new Error(`${test} fails without a mutant`);
    provenTests.add(test);
  }

  /** The test file that noticed, if one did. */
  async try(mutant: Mutant): Promise<string | undefined> {
    const path = join(this.#directory, 'policy', mutant.file);
    const sound = readFileSync(path, 'utf8');
    const lines = sound.split('\n');
    lines[mutant.line - 1] = mutant.after;
    const source = lines.join('\n');
    // A duration that a mutant names without importing would only prove that imports are needed.
    const needed = ['DAY_MS', 'HOUR_MS'].filter((name) => source.includes(name) && !sound.includes(name));
    const imports = mutant.file === DURATIONS ? [] : needed;
    const from = relative(dirname(path), join(this.#directory, 'policy', DURATIONS));
    writeFileSync(path, imports.map((name) => `import { ${name} } from '${from}';\n`).join('') + source);
    try {
      for (const test of testsThatReach(mutant.file)) {
        if (!(await this.#passes(test))) return test;
      }
      return undefined;
    } finally {
      writeFileSync(path, sound);
    }
  }

  #passes(file: string): Promise<boolean> {
    // Node 20 reads TypeScript only with the options that this program has, too.
    const test = [...process.execArgv, '--test-reporter=tap', `tests/policy/${file}`, '--runs=150'];
    // Node.js keeps the compiled form of each file there. That saves half of the time of a quick test.
    const prepare = `export NODE_COMPILE_CACHE=compiled && ulimit -t ${cpuSecondsOf(file)}`;
    const bounded = ['-c', `${prepare} && exec "$@"`, 'sh', process.execPath, ...test];
    return passes(['/bin/sh', ...bounded], { cwd: this.#directory });
  }
}

/** Test files that pass without a mutant. */
const provenTests = new Set<string>();

/** The test file that noticed the last mutant of each file. It often notices the next one, too. */
const lastNoticedBy = new Map<string, string>();

/**
 * The test files that come to use a file of `policy/`. The one that noticed its last mutant and the one named after it
 * come first, and the slow ones last.
 */
function testsThatReach(file: string): string[] {
  const rank = (test: string): number => {
    if (slowTestFiles.includes(test)) return 1 + slowTestFiles.indexOf(test);
    if (test === lastNoticedBy.get(file)) return -2;
    return test === basename(file).replace('.ts', '.test.ts') ? -1 : 0;
  };
  return readdirSync(join(root, 'tests/policy'))
    .filter((test) => test.endsWith('.test.ts') && reachedBy(test).has(basename(file)))
    .sort((left, right) => rank(left) - rank(right));
}

const reachedBy = memoize(1_000, (test: string) => reached(join(root, 'tests/policy', test)));

/** Names of all files that a file imports, directly or not. */
function reached(path: string, names = new Set<string>()): Set<string> {
  for (const [, imported] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g)) {
    const next = resolve(path, '..', imported as string);
    if (!names.has(basename(next))) {
      names.add(basename(next));
      reached(next, names);
    }
  }
  return names;
}

function option(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((text) => text.startsWith(prefix))?.slice(prefix.length);
}

const files = policyFiles().filter((file) => file.includes(option('only') ?? ''));
const mutants = files.flatMap(mutantsOf);
const isOfFiles = ({ file }: LivingMutants): boolean =>
  files.includes(file) || !existsSync(join(root, 'policy', file));
const surprises = livingMutants
  .filter((entry) => isOfFiles(entry) && !mutants.some((mutant) => explains(entry, mutant)))
  .map(({ file, before, after }) => `EXPLAINS NOTHING ${file}: ${before ?? after}`);
const isListed = (mutant: Mutant): boolean => livingMutants.some((entry) => explains(entry, mutant));
const chosenMutants = mutants.slice(0, Number(option('first') ?? mutants.length));
const waitingMutants = chosenMutants.filter((mutant) => !isListed(mutant));
const listedCount = chosenMutants.length - waitingMutants.length;
let killedCount = 0;
console.log(
  [
    `${chosenMutants.length} mutants of ${files.length} files, ${listedCount} of them listed as living`,
    ...surprises,
  ].join('\n'),
);

async function work(): Promise<void> {
  const cage = new Cage();
  for (let mutant = waitingMutants.shift(); mutant !== undefined; mutant = waitingMutants.shift()) {
    const noticedBy = await cage.try(mutant);
    if (noticedBy === undefined) {
      surprises.push(`SURVIVED ${mutant.file}:${mutant.line}\n  - ${mutant.before}\n  + ${mutant.after}`);
      console.log(surprises.at(-1));
    } else {
      await cage.mustPassUnbroken(noticedBy);
      lastNoticedBy.set(mutant.file, noticedBy);
      killedCount += 1;
    }
  }
}

await Promise.all(Array.from({ length: Number(option('jobs') ?? 2) }, work));
console.log(`${killedCount} killed, ${listedCount} listed as living, ${surprises.length} to look into`);
process.exitCode = surprises.length === 0 ? 0 : 1;
