import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGuarded } from '../../service/dev/guarded-process.ts';
import { freePorts } from './free-ports.ts';
import { until } from './waiting.ts';

/** A proxy in a separate process, with a user and a password. Its connections come from a separate address. */
export interface EgressProxy {
  /** The URL that an operator sets, with its password. */
  readonly url: string;
  /** The URL as it is shown. */
  readonly shown: string;
  readonly password: string;
  /** The source address of its connections. */
  readonly from: string;
  /** Ends it at once, with all its connections. */
  kill(): Promise<void>;
  /** Starts it again at its port. */
  start(): Promise<void>;
}

const USER = 'bakery';
const PASSWORD = 'way-out-4711';

/** A SOCKS5 proxy: Debian's `microsocks`. */
export function startSocksProxy(from: string): Promise<EgressProxy> {
  return startProxy('socks5', from, {
    command: 'microsocks',
    args: (port) => ['-i', '127.0.0.1', '-p', String(port), '-u', USER, '-P', PASSWORD, '-b', from],
  });
}

/** An HTTP proxy: Debian's `tinyproxy`. */
export async function startHttpProxy(from: string): Promise<EgressProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'tinyproxy-'));
  const file = join(folder, 'tinyproxy.conf');
  const proxy = await startProxy('http', from, {
    command: 'tinyproxy',
    args: (port) => {
      const lines = [`Port ${port}`, 'Listen 127.0.0.1', `Bind ${from}`, `BasicAuth ${USER} ${PASSWORD}`];
      writeFileSync(file, [...lines, 'Timeout 600', 'MaxClients 100', 'LogLevel Critical', ''].join('\n'));
      return ['-d', '-c', file];
    },
  });
  return {
    ...proxy,
    async kill() {
      await proxy.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startProxy(
  kind: 'socks5' | 'http',
  from: string,
  program: { readonly command: string; readonly args: (port: number) => readonly string[] },
): Promise<EgressProxy> {
  const [port = 0] = await freePorts(1);
  let runningProcess: ReturnType<typeof spawnGuarded> | undefined;
  const start = async (): Promise<void> => {
    const { command } = program;
    const proxy = spawnGuarded({ name: command, command, args: program.args(port), errors: 'read' });
    runningProcess = proxy;
    const gone = proxy.ended.then(() => {
      throw new Error(`${command} ended (is it there? bin/test takes it out of a Debian package)`);
    });
    gone.catch(() => undefined);
    await Promise.race([gone, until(`${command} listens`, () => listens(port))]);
  };
  await start();
  return {
    url: `${kind}://${USER}:${PASSWORD}@127.0.0.1:${port}`,
    shown: `${kind}://${USER}:***@127.0.0.1:${port}`,
    password: PASSWORD,
    from,
    async kill() {
      runningProcess?.signal('SIGKILL');
      await runningProcess?.ended;
    },
    start,
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isThere = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}
