import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../testbed/root.ts';

/** Another tree of the service whose nodes can be started. */
export interface Build {
  readonly name: string;
  /** Goes into `startServiceNode`. */
  readonly program: string;
}

/** This tree. */
export const present: Build = { name: 'this tree', program: 'service/service.ts' };

/**
 * Makes the tree of the last release in `folder`: of the commit that last changed the newest document of
 * docs/released/. Its packages are installed where they are others than ours.
 */
export function lastRelease(folder: string): Build {
  const documents = readdirSync(join(root, 'docs/released'))
    .filter((name) => name.startsWith('openapi-'))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  const newest = `docs/released/${documents.at(-1)}`;
  const commit = git('log', '-1', '--format=%H', '--', newest).trim();
  if (commit === '') throw new Error(`no commit has ${newest}: is the history of the repository here?`);
  const tree = join(folder, 'last-release');
  mkdirSync(tree);
  shell(`git archive ${commit} | tar -x -C "$0"`, tree);
  return buildIn(tree, `${newest} (${commit.slice(0, 7)})`);
}

/** Makes a copy of this tree in `folder` that stores shops in the next version of their form. */
export function nextForm(folder: string): Build {
  const tree = join(folder, 'next-form');
  mkdirSync(tree);
  shell('git ls-files -z | tar -c --null -T - | tar -x -C "$0"', tree);
  const file = join(tree, 'actors/shops/machines/shop-machines.ts');
  const text = readFileSync(file, 'utf8');
  // A shop without an egress is stored in a version of its own.
  const raised = text.replaceAll(/^(const \w*VERSION\w*) = (\d+);$/gm, (_, name, version) => {
    return `${name} = ${Number(version) + 2};`;
  });
  if (raised === text) throw new Error(`${file} names no STORED_VERSION any more`);
  writeFileSync(file, raised);
  return buildIn(tree, 'a tree of the next stored form');
}

function buildIn(tree: string, name: string): Build {
  const read = (folder: string): string => readFileSync(join(folder, 'package-lock.json'), 'utf8');
  if (read(tree) === read(root)) symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  else shell('cd "$0" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error', tree);
  return { name, program: join(tree, 'service/service.ts') };
}

function git(...words: string[]): string {
  return execFileSync('git', words, { cwd: root, encoding: 'utf8' });
}

function shell(command: string, folder: string): void {
  execFileSync('bash', ['-c', `set -e -o pipefail; ${command}`, folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
