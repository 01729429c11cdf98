import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { type ApiClient, apiClient } from '../e2e/stack/api-client.ts';
import { freePort } from './free-port.ts';

/** The service's image, held as tightly as it promises to bear: a read-only root file system and no privilege. */
class ServiceImage extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withTmpFs({ '/tmp': 'mode=1777,size=256m' });
    this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges:true');
    // The simulator listens on loopback alone, so the service has to share it.
    this.withNetworkMode('host');
  }
}

/** One container of the service that is healthy. */
export interface ServiceContainer {
  /** The operators' API. */
  readonly admin: ApiClient;
  /** The tenants' API. */
  api(apiKey: string): ApiClient;
  /** Everything it wrote so far. */
  log(): string;
  /** Runs a script with the container's own Node, inside; what it printed. Fails when the script does. */
  run(script: string): Promise<string>;
  /** Starts a program inside; its exit code. */
  exitCodeOf(command: readonly string[]): Promise<number>;
  /** Stops it like an engine: SIGTERM, and SIGKILL after 10 seconds. Resolves with the exit code. */
  stop(): Promise<number>;
}

/** Starts the service's image and waits until its own health check reports that it is alive. */
export async function startServiceContainer(
  image: string,
  environment: Readonly<Record<string, string>> & { readonly ADMIN_TOKEN: string },
  /** Files of this machine by their path inside, where they cannot be written. */
  files: Readonly<Record<string, string>> = {},
): Promise<ServiceContainer> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const log: string[] = [];
  const startedContainer = await new ServiceImage(image)
    .withEnvironment({
      HOST: '127.0.0.1',
      PORT: String(port),
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: String(adminPort),
      ...environment,
    })
    .withBindMounts(
      Object.entries(files).map(([target, source]) => ({ source, target, mode: 'ro' as const })),
    )
    .withLogConsumer((stream) => stream.on('data', (chunk) => log.push(String(chunk))))
    .withWaitStrategy(Wait.forHealthCheck())
    .withStartupTimeout(60_000)
    .start()
    .catch((error: unknown) => {
      throw new Error(`the container did not become healthy:\n${log.join('').slice(-2_000)}`, {
        cause: error,
      });
    });
  return {
    admin: apiClient(() => `http://127.0.0.1:${adminPort}/admin/v1`, environment.ADMIN_TOKEN),
    api: (apiKey) => apiClient(() => `http://127.0.0.1:${port}/api/v1`, apiKey),
    log: () => log.join(''),
    async run(script) {
      const { exitCode, output } = await startedContainer.exec(['/usr/bin/node', '--eval', script]);
      if (exitCode !== 0) throw new Error(`the script failed inside the container:\n${output}`);
      return output;
    },
    exitCodeOf: async (command) => (await startedContainer.exec([...command])).exitCode,
    stop: () => stopped(startedContainer),
  };
}

/** Starts the image in the expectation that it ends by itself; its exit code and what it wrote. */
export async function runServiceImage(
  image: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly exitCode: number; readonly log: string }> {
  const { container: engine } = await getContainerRuntimeClient();
  const container = await engine.create({
    Image: image,
    Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    HostConfig: { ReadonlyRootfs: true },
  });
  try {
    await engine.start(container);
    const { StatusCode: exitCode } = (await container.wait()) as { StatusCode: number };
    const log = await container.logs({ stdout: true, stderr: true });
    return { exitCode, log: log.toString() };
  } finally {
    await container.remove({ force: true });
  }
}

async function stopped(startedContainer: StartedTestContainer): Promise<number> {
  const { container: engine } = await getContainerRuntimeClient();
  await startedContainer.stop({ remove: false, timeout: 10_000 });
  const container = engine.getById(startedContainer.getId());
  const { State } = await engine.inspect(container);
  await engine.remove(container);
  return State.ExitCode;
}
