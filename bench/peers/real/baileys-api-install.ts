import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MINUTE_MS } from '../../../runtime/durations.ts';
import type { Place } from './driver.ts';

const REPOSITORY = 'https://github.com/fazer-ai/baileys-api.git';
const COMMIT = 'c40c39d1810449487ddddbaf8b673b93d75d4b42';
const BUN = 'bun@1.4.5';
/** A version that it pins and its registry has no more, and the one that takes its place. */
const GONE = { '@thi.ng/bitstream': '2.4.55' };
/** A package of its developers alone that its registry has no more. */
const GONE_FROM_DEVELOPMENT = '@stacksjs/gitlint';
/** No password is asked for: a repository that needs one cannot be fetched. */
const UNASKED = ['-c', 'credential.helper=', '-c', 'core.askPass=/bin/true'];
const FETCH_MS = 5 * MINUTE_MS;

/** Returns the folders of the peer's source and its runtime, below the folder of a run. */
export function foldersOf(directory: string): { readonly source: string; readonly bun: string } {
  const tools = join(directory, 'bun');
  return { source: join(directory, 'baileys-api'), bun: join(tools, 'node_modules/bun/bin/bun.exe') };
}

/** Fetches the peer at its commit, and installs it and its runtime. A string: why that cannot be done here. */
export function install({ directory, source, progress }: Place): string | undefined {
  const folders = foldersOf(directory);
  const from = source ?? REPOSITORY;
  mkdirSync(directory, { recursive: true });
  try {
    progress(`fetching ${from}`);
    if (!existsSync(folders.source))
      run('git', [...UNASKED, 'clone', '--quiet', from, folders.source], directory);
    run('git', ['checkout', '--quiet', '--force', COMMIT], folders.source);
  } catch (error) {
    rmSync(folders.source, { recursive: true, force: true });
    return `fazer-ai/baileys-api at ${COMMIT.slice(0, 7)} cannot be had from ${from} (${reasonOf(error)}); give a clone of it by --peer=PATH.`;
  }
  try {
    progress('installing it and Bun');
    const tools = join(directory, 'bun');
    mkdirSync(tools, { recursive: true });
    // Without --prefix npm installs into a folder further up that has node_modules.
    run(
      'npm',
      ['install', '--prefix', tools, '--no-audit', '--no-fund', '--no-save', '--loglevel=error', BUN],
      tools,
    );
    replaceWhatIsGone(folders.source);
    run(folders.bun, ['install', '--omit', 'dev'], folders.source);
  } catch (error) {
    return `The packages of fazer-ai/baileys-api cannot be installed (${reasonOf(error)}).`;
  }
  return undefined;
}

/** Changes what is installed, and no line of what runs. */
function replaceWhatIsGone(source: string): void {
  const path = join(source, 'package.json');
  const described = JSON.parse(readFileSync(path, 'utf8')) as {
    devDependencies: Record<string, string>;
    overrides?: Record<string, string>;
  };
  delete described.devDependencies[GONE_FROM_DEVELOPMENT];
  described.overrides = { ...described.overrides, ...GONE };
  writeFileSync(path, `${JSON.stringify(described, null, 2)}\n`);
}

function run(command: string, args: string[], cwd: string): void {
  execFileSync(command, args, { cwd, timeout: FETCH_MS, stdio: ['ignore', 'ignore', 'pipe'] });
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { readonly stderr?: Buffer; readonly message: string };
  return (stderr?.toString().trim() || message).split('\n').at(-1) ?? '';
}
