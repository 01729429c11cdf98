import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Build, OWN_BUILD } from './build.ts';
import { metricsOf } from './metrics.ts';
import { type nodeSettings, type Program, portOf, startProgram } from './program.ts';

/** A program of the build and its arguments. */
export type LiveProgram = readonly [path: string, ...args: string[]];

/** A node of the service with the real client in its workers. Its ports and its process change with each start. */
export interface LiveNode {
  readonly id: string;
  readonly apiPort: number;
  readonly adminPort: number;
  readonly pid: number;
  /** The ids that the system gave to the threads of its session workers. */
  workerThreads(): readonly number[];
  /** All values of `/metrics`, by name with labels. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** Ends it so, and waits for that. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Starts it again, by default with the program of its first start. Resolves when it takes requests. */
  start(program?: LiveProgram): Promise<void>;
  /** The end of its log. */
  lastLog(): string;
  stop(): Promise<void>;
}

const NOTE_THREAD = pathToFileURL(join(OWN_BUILD.directory, 'bench/sides/note-thread.js')).href;

/** Starts a node and waits until it takes requests. */
export async function startLiveNode(options: {
  readonly id: string;
  readonly build: Build;
  readonly directory: string;
  readonly program: LiveProgram;
  readonly environment: ReturnType<typeof nodeSettings> & NodeJS.ProcessEnv;
}): Promise<LiveNode> {
  const { id, build, directory, environment } = options;
  const threadsPath = join(directory, `session-workers-${id}`);
  const begin = ([path, ...args]: LiveProgram): Promise<Program> => {
    rmSync(threadsPath, { force: true });
    return startProgram({
      name: `service ${id}`,
      // A pinned service would have all its threads on one core.
      core: undefined,
      build,
      args: [
        `--import=${NOTE_THREAD}?path=${encodeURIComponent(threadsPath)}`,
        join(build.directory, path),
        ...args,
      ],
      environment: { ...environment, NODE_ID: id },
      directory,
    });
  };
  let service = await begin(options.program);
  const node: LiveNode = {
    id,
    get apiPort() {
      return portOf(service.api);
    },
    get adminPort() {
      return portOf(service.admin ?? '');
    },
    get pid() {
      return service.process.pid;
    },
    workerThreads() {
      const text = existsSync(threadsPath) ? readFileSync(threadsPath, 'utf8') : '';
      return text.split('\n').filter(Boolean).map(Number);
    },
    metrics: () => metricsOf({ port: node.adminPort, token: environment.ADMIN_TOKEN }),
    async end(signal) {
      service.process.signal(signal);
      await service.process.ended;
    },
    async start(program = options.program) {
      service = await begin(program);
    },
    lastLog: () => service.lastLog(),
    async stop() {
      await service.process.stop({ graceMs: 15_000 });
    },
  };
  return node;
}
