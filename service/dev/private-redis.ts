import { mkdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { MINUTE_MS } from '../../runtime/durations.ts';
import {
  describeEnd,
  type GuardedProcess,
  type GuardedProcessOptions,
  spawnGuarded,
} from './guarded-process.ts';

/** A Redis of our own on a Unix socket, with an append-only file. */
export interface PrivateRedis {
  readonly socketPath: string;
  readonly process: GuardedProcess;
}

export interface PrivateRedisOptions {
  /** Holds the append-only file; made when missing. */
  readonly directory: string;
  /** At most 107 bytes: the kernel's limit for a socket's path. By default `redis.sock` in the directory. */
  readonly socketPath?: string;
  /** `always` answers a write after it is on disk. By default `always`. */
  readonly appendfsync?: 'always' | 'everysec' | 'no';
  /** Further arguments of redis-server. */
  readonly extraArgs?: readonly string[];
  /** How long it may take to come up, loading included. */
  readonly timeoutMs?: number;
  /** By default `spawnGuarded`. */
  readonly spawn?: (options: GuardedProcessOptions) => GuardedProcess;
  readonly clock?: Clock;
}

/**
 * Starts redis-server without a TCP port and waits until it answers. Its log is kept for the error of a failed start.
 * Ends when our process does.
 */
export async function startPrivateRedis(options: PrivateRedisOptions): Promise<PrivateRedis> {
  const { directory, appendfsync = 'always', extraArgs = [], timeoutMs = MINUTE_MS } = options;
  const { spawn = spawnGuarded, clock = systemClock } = options;
  const socketPath = options.socketPath ?? join(directory, 'redis.sock');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // A socket left by a killed run. No server answers on it, since the data directory is locked for one run.
  rmSync(socketPath, { force: true });
  const settings: Record<string, string> = {
    port: '0',
    unixsocket: socketPath,
    unixsocketperm: '700',
    dir: directory,
    appendonly: 'yes',
    appendfsync,
    save: '',
    'maxmemory-policy': 'noeviction',
    // The messages of a day expire as one key: freed in the background, or Redis would stand still meanwhile.
    'lazyfree-lazy-expire': 'yes',
    loglevel: 'warning',
    // A copy that was cut short by a kill is trimmed to its last whole command, not refused.
    'aof-load-truncated': 'yes',
  };
  const process = spawn({
    name: 'redis',
    command: 'redis-server',
    args: [...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]), ...extraArgs],
    output: 'read',
    errors: 'read',
    clock,
  });
  const log = collectLog(process);
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  while (!(await answersPing(socketPath))) {
    const end = await Promise.race([process.ended, delay(20, undefined)]);
    if (end !== undefined)
      throw new Error(`redis-server did not start (${describeEnd(end)}): ${await log.text()}`);
    if (clock.monotonicMs() > deadlineMs) {
      await process.stop({ graceMs: 1_000 });
      throw new Error(`redis-server did not answer within ${timeoutMs} ms: ${await log.text()}`);
    }
  }
  return { socketPath, process };
}

/** True if a Redis answers PING on the socket; false while it loads, or if no server listens. */
function answersPing(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (reply) => {
      socket.destroy();
      resolve(reply.toString().startsWith('+PONG'));
    });
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(false));
  });
}

/** Keeps the last output of a process; `text` waits until its output has ended. */
function collectLog(source: GuardedProcess): { text(): Promise<string> } {
  const mostCharacters = 2_000;
  let output = '';
  const keepOutput = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-mostCharacters);
  };
  const streams = [source.stdout, source.stderr].filter((stream) => stream !== null);
  for (const stream of streams) stream.on('data', keepOutput);
  const outputEnd = Promise.all(streams.map((stream) => finished(stream)));
  return { text: () => outputEnd.then(() => output.trim() || 'it said nothing') };
}
