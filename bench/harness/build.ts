import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const programs = resolve(import.meta.dirname, '../..');
/** The checkout, also if this file itself is compiled. */
const root = basename(programs) === '.compiled' ? dirname(programs) : programs;

/** A compiled service: benches measure what production runs, JavaScript that tsc made. */
export interface Build {
  /** The name of the build's side in tables. */
  readonly label: string;
  /** The folder of the compiled programs. */
  readonly directory: string;
  /** The flags of its `npm start`. */
  readonly startFlags: readonly string[];
}

/** The side of a build that this one is compared with. */
export const OTHER_BUILD = 'other-build';

/** The service of this checkout, with the sides, the loads and everything else that is compiled here. */
export const OWN_BUILD: Build = buildIn(root, 'service');

/** The peers' program and its packages. */
export const PEERS_DIRECTORY = join(root, 'bench/peers');

function buildIn(checkout: string, label: string): Build {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return {
    label,
    directory: join(checkout, 'bench/dist'),
    startFlags: scripts.start.split(' ').filter((word) => word.startsWith('--')),
  };
}

/** Returns the path of the service in a build: `bin/` in a checkout of 0.1.0. */
export function serviceProgram({ directory }: Build): string {
  return existsSync(join(directory, 'service/service.js')) ? 'service/service.js' : 'bin/service.js';
}

function run(command: string, args: string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Compiles the service and the sides of a checkout, by default this one. */
export function compile(checkout = root): void {
  run('rm', ['-rf', 'bench/dist'], checkout);
  run(join(checkout, 'node_modules/.bin/tsc'), ['-p', 'bench/tsconfig.json'], checkout);
  run(join(root, 'bin/copy-assets'), ['bench/dist'], checkout);
  copyFileSync(join(checkout, 'package.json'), join(checkout, 'bench/dist/package.json'));
}

/** Compiles, and installs the peers when they are not there. */
export function build(): void {
  compile();
  if (!existsSync(join(PEERS_DIRECTORY, 'node_modules')))
    run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], PEERS_DIRECTORY);
}

/**
 * Compiles the service of another checkout, whose packages are installed. It must have `bench/sides/memory-service.ts`
 * and the operators' calls that `makeFleet` makes.
 */
export function buildOf(checkout: string): Build {
  const path = resolve(checkout);
  if (!existsSync(join(path, 'node_modules/.bin/tsc')))
    throw new Error(`${path} has no packages; run npm install --ignore-scripts --no-save there`);
  compile(path);
  return buildIn(path, OTHER_BUILD);
}
