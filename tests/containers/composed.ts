import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { DockerComposeEnvironment, getContainerRuntimeClient } from 'testcontainers';
import { root } from '../testbed/root.ts';
import { freePort } from './free-port.ts';

const PROJECT = 'tenant-messaging-test';

/** The deployment of compose.yaml, running and healthy, reached through its proxy. */
export interface Composed {
  readonly apiUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  /** How the engine holds the container of a service. */
  confinement(service: string): Promise<{
    readonly readOnly: boolean;
    readonly user: string;
    readonly added: number;
    /** The folders in memory that it may write to. */
    readonly tmpfs: readonly string[];
  }>;
  /** Ends the container of a service so; its exit code. */
  end(service: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<number>;
  /** Starts the container of a service again. */
  start(service: string): Promise<void>;
  /** Ends everything and removes the volume. */
  down(): Promise<void>;
}

/** Starts compose.yaml as it is in the repository, on ports that are free. */
export async function composeUp(): Promise<Composed> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const adminToken = randomBytes(24).toString('hex');
  const standalone = await promisify(execFile)('docker', ['compose', 'version']).then(
    () => false,
    () => true,
  );
  const startedEnvironment = await new DockerComposeEnvironment(root, 'compose.yaml')
    .withProjectName(PROJECT)
    .withEnvironment({
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      ADMIN_TOKEN: adminToken,
      CREDENTIALS_KEY: randomBytes(32).toString('base64'),
    })
    .withClientOptions(standalone ? { executable: { standalone } } : {})
    .withStartupTimeout(90_000)
    .up();
  const { container: engine } = await getContainerRuntimeClient();
  const containerOf = (service: string) => {
    // Compose 1 and 2 build the name in their own ways.
    const names = [`${service}-1`, `${PROJECT}_${service}_1`];
    const [id] = names.flatMap((name) => {
      try {
        return [startedEnvironment.getContainer(name).getId()];
      } catch {
        return [];
      }
    });
    if (id === undefined) throw new Error(`compose.yaml made no container of ${service}`);
    return engine.getById(id);
  };
  return {
    apiUrl: `http://127.0.0.1:${port}/api/v1`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    adminToken,
    async confinement(service) {
      const { HostConfig, Config } = await engine.inspect(containerOf(service));
      return {
        readOnly: HostConfig.ReadonlyRootfs === true,
        user: Config.User,
        added: HostConfig.CapAdd?.length ?? 0,
        tmpfs: Object.keys((HostConfig.Tmpfs as Record<string, string> | undefined) ?? {}),
      };
    },
    async end(service, signal) {
      const container = containerOf(service);
      const ended = container.wait() as Promise<{ StatusCode: number }>;
      // A deployment makes the engine stop the container, which is not the same as a kill.
      await (signal === 'SIGTERM' ? container.stop() : container.kill({ signal }));
      return (await ended).StatusCode;
    },
    start: (service) => engine.start(containerOf(service)),
    async down() {
      await startedEnvironment.down({ removeVolumes: true, timeout: 10_000 });
    },
  };
}
