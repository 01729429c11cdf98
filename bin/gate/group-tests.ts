/*
 * Reads names of compiled test files from standard input, one a line. Prints one line for each process that is to run
 * some of them: `node group-tests.js < FILES`. Most files take longer to start Node and to load modules than to run
 * their tests, so files of one folder share a process. It fails if a file may disturb those beside it, and its name does
 * not say so.
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
  if (group.length === MOST_FILES || (group[0] !== undefined && dirname(group[0]) !== dirname(file))) {
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
