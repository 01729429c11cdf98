import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS } from '../../runtime/durations.ts';
import { root } from '../testbed/root.ts';

const REPOSITORY = 'https://github.com/vinikjkkj/zapo.git';
const COMMIT = '9a49e1fffdec8bbfae14cd64c98ffa88c36ef13e';
/** Prevents a question for a password: a repository that needs one cannot be fetched. */
const UNASKED = ['-c', 'credential.helper=', '-c', 'core.askPass=/bin/true'];
const FETCH_MS = 5 * MINUTE_MS;

/** The folder of the other project's server below its source, and the settings with which tsx compiles it. */
export const SERVER_FOLDER = 'packages/fake-server';
export const SERVER_TSCONFIG = join(SERVER_FOLDER, 'tsconfig.json');

/**
 * Fetches the other project's source at its commit. Undefined when it is there; a string: why it cannot be had.
 * `peer`: a path or an address of a clone; default: the project's repository.
 */
export function fetchServer(source: string, peer: string | undefined): string | undefined {
  const from = peer ?? REPOSITORY;
  try {
    run('git', [...UNASKED, 'clone', '--quiet', '--no-checkout', from, source]);
    run('git', ['-C', source, 'checkout', '--quiet', COMMIT]);
  } catch (error) {
    return `vinikjkkj/zapo at ${COMMIT.slice(0, 7)} cannot be had from ${from} (${reasonOf(error)}); give a clone of it by --peer=PATH.`;
  }
  // The one package that its server needs is one of this project's, too.
  mkdirSync(join(source, 'node_modules'));
  symlinkSync(join(root, 'node_modules/ws'), join(source, 'node_modules/ws'));
  return undefined;
}

function run(command: string, args: string[]): void {
  execFileSync(command, args, { timeout: FETCH_MS, stdio: ['ignore', 'ignore', 'pipe'] });
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: Buffer; readonly message: string };
  return (stderr?.toString().trim() || message).split('\n').at(-1) ?? '';
}
