import { dirname, isAbsolute } from 'node:path';
import * as v from 'valibot';
import { type GuardedProcess, spawnGuarded } from '../../../service/dev/guarded-process.ts';
import { readReadyLine } from '../../../service/dev/ready-line.ts';
import { moduleFile, nodeFlags, root } from '../../testbed/root.ts';

const readyLine = v.object({ ready: v.literal(true), api: v.string(), admin: v.string() });

/** One node of the service in a separate process, on ports that the system chose. */
export interface ServiceNode {
  readonly nodeId: string;
  /** Base address of the tenants' API; another one after a restart. */
  apiUrl(): string;
  /** Address of the operators' listener. */
  adminUrl(): string;
  /** Everything it wrote to standard error so far, restarts included. */
  log(): string;
  signal(signal: NodeJS.Signals): void;
  /** Its process id; another one after a restart. */
  pid(): number;
  /** Ends it so and waits until it is gone; its exit code. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null>;
  /** Starts it again under the same node id, from now on with these settings and this program. */
  start(change?: NodeChange): Promise<void>;
  /** True between a start and the end of the process. */
  runs(): boolean;
}

/** The changes with which a node starts again. */
export interface NodeChange {
  readonly settings?: Readonly<Record<string, string>>;
  /** Like that of `startServiceNode`. */
  readonly program?: string;
  /** Words behind the program's name. */
  readonly args?: readonly string[];
}

/** The environment of `service/service.ts`; ports and PATH are added. */
export type NodeEnvironment = { readonly NODE_ID: string } & Readonly<Record<string, string>>;

/**
 * Starts a node and waits until it reports that it is ready. `program`: another entry point than `service/service.ts`,
 * with the same ready line. An absolute path names the TypeScript source of another tree.
 */
export async function startServiceNode(
  environment: NodeEnvironment,
  program = 'service/service.ts',
): Promise<ServiceNode> {
  const log: string[] = [];
  let service: GuardedProcess;
  let addresses: v.InferOutput<typeof readyLine>;
  let runs = false;
  let givenEnvironment: NodeEnvironment = environment;
  let present = program;
  let words: readonly string[] = [];
  const start = async (change: NodeChange = {}): Promise<void> => {
    givenEnvironment = { ...givenEnvironment, ...change.settings };
    present = change.program ?? present;
    words = change.args ?? words;
    const { args, workingDirectory } = commandOf(present);
    service = spawnGuarded({
      name: environment.NODE_ID,
      command: process.execPath,
      args: [...args, ...words],
      workingDirectory,
      environment: {
        PATH: dirname(process.execPath),
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_HOST: '127.0.0.1',
        ADMIN_PORT: '0',
        ...givenEnvironment,
      },
      output: 'read',
      errors: 'read',
    });
    const { ended } = service;
    runs = true;
    void ended.then(() => {
      runs = false;
    });
    service.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()));
    addresses = await readReadyLine(service, { schema: readyLine }).catch(async (error: unknown) => {
      service.signal('SIGKILL');
      await ended;
      throw new Error(`the service did not start:\n${log.join('').slice(-2_000)}`, { cause: error });
    });
  };
  await start();
  return {
    nodeId: environment.NODE_ID,
    apiUrl: () => addresses.api,
    adminUrl: () => addresses.admin,
    log: () => log.join(''),
    signal: (signal) => void service.signal(signal),
    pid: () => service.pid,
    async end(signal) {
      service.signal(signal);
      return (await service.ended).code;
    },
    start,
    runs: () => runs,
  };
}

/** Returns what Node is started with for a program of this tree, in its form, or for the source of another tree. */
function commandOf(program: string): { readonly args: readonly string[]; readonly workingDirectory: string } {
  if (isAbsolute(program)) {
    return {
      args: ['--import', import.meta.resolve('tsx'), program],
      workingDirectory: dirname(dirname(program)),
    };
  }
  return { args: [...nodeFlags, moduleFile(program)], workingDirectory: root };
}
