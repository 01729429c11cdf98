/**
 * Reads names of compiled test files from standard input, one a line. Prints one line for each process that is to run
 * some of them: `node group-tests.js < FILES`. Neighbours below one folder of tests/ share a process, because most take
 * longer to start than to run. It fails if a file may disturb those beside it, and its name does not say so.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How many files share a process at most. */
const MOST_FILES = 8;

/** Folders whose tests start whole services or a browser. They take long, so each file has its own process. */
const LONG = /^\.compiled\/tests\/(?:bench|chaos|console|e2e|fence|front-door|histories)\//;

/** The name of a file that would change or measure the tests of another file. It has its own process. */
const ALONE = /\.alone\.test\.js$/;

/** Matches most of the files that need such a name. */
const TOUCHES_PROCESS =
  /process\.(?:chdir|env|exit|memoryUsage|on|once|resourceUsage)\b|globalThis\.\w+ =|Object\.assign\(globalThis|[^.\w]mock\.|\bsetFlagsFromString\b|\b(?:set|forget)ShardCount\b|\bdescriptorLimit\(process|syncBuiltinESMExports/;

/** Returns the folder of tests/ in which a file is, at any depth. */
const topFolderOf = (file: string): string => file.split('/').slice(0, 3).join('/');

/** True if the file, or a helper in tests/ that it imports, touches its process. */
function touchesProcess(file: string, seenFiles = new Set<string>()): boolean {
  if (seenFiles.has(file)) return false;
  seenFiles.add(file);
  const source = readFileSync(file, 'utf8');
  if (TOUCHES_PROCESS.test(source)) return true;
  const importedFiles = source.matchAll(/^import .* from '(\.\.?\/[^']+)';$/gm);
  return Array.from(importedFiles, ([, path = '']) => join(dirname(file), path))
    .filter((path) => path.startsWith('.compiled/tests/'))
    .some((path) => touchesProcess(path, seenFiles));
}

const files = readFileSync(0, 'utf8').split('\n').filter(Boolean).sort();
const misnamedFiles: string[] = [];
let group: string[] = [];
for (const file of files) {
  if (LONG.test(file) || ALONE.test(file)) {
    console.log(file);
    continue;
  }
  if (touchesProcess(file)) misnamedFiles.push(file);
  if (group.length === MOST_FILES || topFolderOf(group[0] ?? file) !== topFolderOf(file)) {
    console.log(group.join(' '));
    group = [];
  }
  group.push(file);
}
if (group.length > 0) console.log(group.join(' '));
if (misnamedFiles.length > 0) {
  console.error(
    `These files touch their process, so their names must end in .alone.test.ts:\n${misnamedFiles.join('\n')}`,
  );
  process.exitCode = 1;
}
