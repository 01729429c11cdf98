import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import type { LivingMutants } from './mutants-that-live.ts';

/** The durations of the policy's windows, named from `policy/`. */
export const DURATIONS = '../runtime/durations.ts';

/** One broken line. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** The breaks: every match on a line of code makes a separate mutant. */
const operators: readonly (readonly [RegExp, string])[] = [
  [/ >= /g, ' > '],
  [/ > /g, ' >= '],
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \* /g, ' / '],
  [/ \/ /g, ' * '],
  [/ \+= /g, ' -= '],
  [/ -= /g, ' += '],
  [/Math\.max\(/g, 'Math.min('],
  [/Math\.min\(/g, 'Math.max('],
  [/Math\.ceil\(/g, 'Math.floor('],
  [/Math\.floor\(/g, 'Math.ceil('],
  [/\bDAY_MS\b/g, 'HOUR_MS'],
  [/\bHOUR_MS\b/g, 'DAY_MS'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/(?<![\w.#$])(\d[\d_]*)(?![\w.])/g, '($1 + 1)'],
  [/\?\? /g, '&& '],
  [/ \? (.+?) : ([^;]+)/g, ' ? $2 : $1'],
  // A condition with up to three levels of brackets inside, whatever the form of its body.
  [/\b(if|while) \((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)/g, '$1 (false)'],
];

/** The files that are broken, named from `policy/`. */
export function policyFiles(): string[] {
  const names = readdirSync(join(root, 'policy'), { recursive: true, encoding: 'utf8' });
  return [...names.filter((name) => name.endsWith('.ts')), DURATIONS];
}

/** Returns all mutants of a file. */
export function mutantsOf(file: string): Mutant[] {
  const mutants = new Map<string, Mutant>();
  const lines = readRepositoryFile(`policy/${file}`).split('\n');
  for (const [index, line] of lines.entries()) {
    const code = line.replace(/\/\*.*?\*\//g, '');
    const isCode = !/^\s*(\/\/|\/?\*|import |export type|export interface|\}? ?from |readonly |type )/.test(
      line,
    );
    if (!isCode || /^\s*(message[,:]|case |const message|[?:] [`'])/.test(code)) continue;
    for (const [pattern, replacement] of operators) {
      for (const match of line.matchAll(pattern)) {
        const broken = match[0].replace(new RegExp(pattern.source), replacement);
        const after = line.slice(0, match.index) + broken + line.slice(match.index + match[0].length);
        if (after !== line) {
          mutants.set(`${index}:${after}`, {
            file,
            line: index + 1,
            before: line.trim(),
            after: after.trim(),
          });
        }
      }
    }
  }
  return [...mutants.values()];
}

/** True if this entry of the list describes the mutant. */
export function explains({ file, before, after }: LivingMutants, mutant: Mutant): boolean {
  return (
    file === mutant.file &&
    (before ?? mutant.before) === mutant.before &&
    (after ?? mutant.after) === mutant.after
  );
}
