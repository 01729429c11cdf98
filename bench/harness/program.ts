import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type GuardedProcess, spawnGuarded } from '../../service/dev/guarded-process.ts';
import { readReadyLine } from '../../service/dev/ready-line.ts';
import { type Build, OWN_BUILD } from './build.ts';
import { type Core, onCore } from './cores.ts';

const readyLine = v.object({
  ready: v.literal(true),
  api: v.string(),
  admin: v.optional(v.string()),
  look: v.optional(v.string()),
});

/** A server that takes requests. */
export interface Program {
  readonly process: GuardedProcess;
  readonly api: string;
  readonly admin: string | undefined;
  /** The address of its internal figures, if it has one. */
  readonly look: string | undefined;
  /** The end of its log. */
  lastLog(): string;
}

/** Characters of a log that are shown after a failure. */
const LOG_END = 2_000;

/** Operators who set a fleet up by turns: the service bounds the changes of each, and 100,000 shops need 250,000. */
const SET_UP_OPERATORS = 60;

/** Returns the token of an operator for call `index` of a set-up, which operators make in turn. */
export function setUpToken(adminToken: string, index: number): string {
  return `${adminToken}-${index % SET_UP_OPERATORS}`;
}

/** Returns the settings of every node of a side: ports of the system's choice, its Redis, and new secrets. */
export function nodeSettings(redisUrl: string, directory: string) {
  const adminToken = randomBytes(24).toString('base64url');
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: adminToken,
    ADMIN_TOKENS: Array.from(
      { length: SET_UP_OPERATORS },
      (_, index) => `set-up-${index}:admin:${setUpToken(adminToken, index)}`,
    ).join(','),
    REDIS_URL: redisUrl,
    CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: directory,
  };
}

/** Starts a program of Node and waits until it takes requests. Its log goes into a file, as it would in production. */
export async function startProgram(options: {
  readonly name: string;
  readonly core: Core | undefined;
  /** The build whose flags it is started with, as in production. By default this checkout. */
  readonly build?: Build;
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly directory: string;
}): Promise<Program> {
  const { name, core, build = OWN_BUILD, args, environment, directory } = options;
  const logPath = join(directory, `${name.replace(' ', '-')}.log`);
  const onItsCore = onCore(core, process.execPath, [...build.startFlags, ...args]);
  const child = spawnGuarded({
    name,
    command: '/bin/sh',
    args: ['-c', 'exec "$@" 2>>"$LOG_PATH"', name, onItsCore.command, ...onItsCore.args],
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_ENV: 'production',
      LOG_PATH: logPath,
      ...environment,
    },
    workingDirectory: directory,
    output: 'read',
  });
  const lastLog = (): string => readFileSync(logPath, 'utf8').slice(-LOG_END);
  try {
    const { api, admin, look } = await readReadyLine(child, { schema: readyLine });
    return { process: child, api, admin, look, lastLog };
  } catch (error) {
    throw new Error(`${name} did not start: ${lastLog()}`, { cause: error });
  }
}

/** Returns the port in an address. */
export function portOf(url: string): number {
  return Number(new URL(url).port);
}
