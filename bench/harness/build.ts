import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Where the compiled programs are: benches measure what production runs, JavaScript that tsc made. */
export const BUILD_DIRECTORY = join(root, 'bench/dist');

/** The peers' program and its packages. */
export const PEERS_DIRECTORY = join(root, 'bench/peers');

function run(command: string, args: string[], cwd = root): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Compiles the service and the sides anew. */
export function compile(): void {
  run('rm', ['-rf', BUILD_DIRECTORY]);
  run(join(root, 'node_modules/.bin/tsc'), ['-p', 'bench/tsconfig.json']);
  // Scripts and pages that the programs read from beside themselves, as in `npm run build`.
  const assets =
    "find runtime policy actors http -type f ! -name '*.ts' -print0 | tar -c --null -T - | tar -x -C";
  run('sh', ['-c', `${assets} bench/dist`]);
  copyFileSync(join(root, 'package.json'), join(BUILD_DIRECTORY, 'package.json'));
}

/** Compiles, and installs the peers when they are not there. */
export function build(): void {
  compile();
  if (!existsSync(join(PEERS_DIRECTORY, 'node_modules'))) {
    // Not npm ci, for the reason bin/prepare gives.
    run(
      'npm',
      ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'],
      PEERS_DIRECTORY,
    );
  }
}
