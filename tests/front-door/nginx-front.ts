import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGuarded } from '../../service/dev/guarded-process.ts';
import { freePorts } from '../testbed/free-ports.ts';
import { root } from '../testbed/root.ts';
import { until } from '../testbed/waiting.ts';

/** A port without a listener. */
const DISCARD_PORT = 9;
const FRONT = join(root, 'deploy/front');

interface FrontOptions {
  /** Edits the configuration before nginx starts. */
  readonly change?: (configuration: string) => string;
  /** The address of the operators' listener of both nodes. */
  readonly operatorsPort?: number;
}

/** nginx as compose.yaml runs it, before two nodes on loopback. */
export interface NginxFront {
  /** The address for callers, without the base path. */
  readonly url: string;
  /** The address at which operators reach it. */
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx with `deploy/front/nginx.conf` before the nodes of these ports. Resolves once it listens. Throws where
 * nginx is not installed.
 */
async function startNginxFront(
  nodes: readonly [number, number],
  { change = (configuration) => configuration, operatorsPort = DISCARD_PORT }: FrontOptions,
): Promise<NginxFront> {
  const program = nginxProgram();
  const folder = mkdtempSync(join(tmpdir(), 'front-'));
  // Its workers run as another user where root starts it.
  chmodSync(folder, 0o777);
  const [port = 0, adminPort = 0] = await freePorts(2);
  const replaced = new Map([
    // First, since this checkout may itself be under /tmp.
    [' /tmp/', ` ${folder}/`],
    ['172.30.57.11:3000', `127.0.0.1:${nodes[0]}`],
    ['172.30.57.12:3000', `127.0.0.1:${nodes[1]}`],
    ['172.30.57.11:3001', `127.0.0.1:${operatorsPort}`],
    ['172.30.57.12:3001', `127.0.0.1:${operatorsPort}`],
    // A test checks the log lines that it expects.
    ['stderr warn', 'stderr crit'],
    ['listen 3000', `listen 127.0.0.1:${port}`],
    ['listen 3001', `listen 127.0.0.1:${adminPort}`],
    ['/etc/nginx/front-answers.conf', join(FRONT, 'front-answers.conf')],
  ]);
  let configuration = readFileSync(join(FRONT, 'nginx.conf'), 'utf8');
  for (const [from, to] of replaced) {
    if (!configuration.includes(from)) throw new Error(`deploy/front/nginx.conf has no ${from}`);
    configuration = configuration.replaceAll(from, to);
  }
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, change(configuration));
  const args = ['-e', 'stderr', '-c', file, '-g', 'daemon off;'];
  const nginx = spawnGuarded({ name: 'nginx', command: program, args });
  const stop = async (): Promise<void> => {
    await nginx.stop({ graceMs: 5_000 });
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  const ended = nginx.ended.then(() => Promise.reject(new Error('nginx ended; it says why above')));
  ended.catch(() => undefined);
  try {
    const listens = until('nginx listens', () =>
      fetch(`http://127.0.0.1:${adminPort}`).then(
        () => true,
        () => false,
      ),
    );
    await Promise.race([listens, ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, adminUrl: `http://127.0.0.1:${adminPort}`, stop };
}

/** Runs something behind such an nginx and stops it afterwards. */
export async function behindNginx<Result>(
  nodes: readonly [number, number],
  ask: (front: NginxFront) => Promise<Result>,
  options: FrontOptions = {},
): Promise<Result> {
  const front = await startNginxFront(nodes, options);
  try {
    return await ask(front);
  } finally {
    await front.stop();
  }
}

/** Debian keeps it where the path of users does not lead. */
function nginxProgram(): string {
  const found = ['nginx', '/usr/sbin/nginx'].find((program) => {
    try {
      execFileSync(program, ['-v'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error('nginx is needed (bin/prepare-program nginx nginx)');
  return found;
}
