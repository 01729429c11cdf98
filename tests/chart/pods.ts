import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { type GuardedProcess, spawnGuarded } from '../../service/dev/guarded-process.ts';
import { imageTarget } from '../e2e/stack/image-target.ts';
import { root } from '../testbed/root.ts';
import { until } from '../testbed/waiting.ts';
import type { Manifest } from './chart-tools.ts';

const probe = v.object({
  httpGet: v.object({ path: v.string(), port: v.string() }),
  periodSeconds: v.number(),
  timeoutSeconds: v.optional(v.number(), 1),
  failureThreshold: v.number(),
});
type Probe = v.InferOutput<typeof probe>;

const deploymentSpec = v.object({
  replicas: v.number(),
  strategy: v.object({
    rollingUpdate: v.object({ maxSurge: v.literal(1), maxUnavailable: v.literal(0) }),
  }),
  template: v.object({
    spec: v.object({
      terminationGracePeriodSeconds: v.number(),
      containers: v.tuple([
        v.object({
          env: v.array(
            v.object({
              name: v.string(),
              value: v.optional(v.string()),
              valueFrom: v.optional(
                v.object({ fieldRef: v.object({ fieldPath: v.literal('metadata.name') }) }),
              ),
            }),
          ),
          ports: v.array(v.object({ name: v.string(), containerPort: v.number() })),
          startupProbe: probe,
          livenessProbe: probe,
          readinessProbe: probe,
          volumeMounts: v.array(v.object({ name: v.string(), mountPath: v.string() })),
          lifecycle: v.optional(v.never()),
        }),
      ]),
    }),
  }),
});

/** A pod: a process of the service with the address, the environment and the probes of its Deployment. */
export interface Pod {
  readonly name: string;
  /** Base address of the tenants' API. */
  readonly apiUrl: string;
  readonly adminUrl: string;
  /** True from its first successful readiness probe until it is not ready any more: meanwhile a Service leads to it. */
  isReady(): boolean;
  /** Resolves once it was asked to end and its readiness probe fails. Rejects where the probe still succeeds then. */
  readonly notReady: Promise<void>;
  /** SIGTERM, and SIGKILL after the grace. Resolves with the exit code; `null` where the grace was too short. */
  end(): Promise<number | null>;
}

/** Pods of a Deployment, with what a kubelet does for them. */
export interface Pods {
  readonly replicas: number;
  /** Starts a pod and waits until it is ready. Rejects with its log where its probes fail. */
  start(name: string): Promise<Pod>;
  /** Ends what still runs. */
  stop(): void;
}

/** The line that a node logs once its readiness probe fails (service/process-end.ts). */
const WITHDRAWN = 'not ready from now on';

/**
 * Reads a Deployment. `secrets` are in files of `folder`, which replaces a pod's volume. Each pod has its own address
 * below `network`, as in `127.5.6`, since all listen on the same ports.
 */
export function podsOf(
  deployment: Manifest,
  options: {
    readonly secrets: Readonly<Record<string, string>>;
    readonly folder: string;
    readonly network: string;
  },
): Pods {
  const { replicas, template } = v.parse(deploymentSpec, deployment.spec);
  const [container] = template.spec.containers;
  const mount = container.volumeMounts.find(({ name }) => name === 'secrets')?.mountPath;
  assert.ok(mount);
  const secretsFolder = join(options.folder, 'secrets');
  mkdirSync(secretsFolder);
  for (const [name, value] of Object.entries(options.secrets))
    writeFileSync(join(secretsFolder, name), value);
  const portOf = (name: string): number => {
    const port = container.ports.find((each) => each.name === name)?.containerPort;
    assert.ok(port, `no port ${name}`);
    return port;
  };
  const running = new Set<GuardedProcess>();
  let started = 0;
  return {
    replicas,
    async start(name) {
      started += 1;
      const address = `${options.network}.${started}`;
      const environment = Object.fromEntries(
        container.env.map((each) => [each.name, each.value?.replace(mount, secretsFolder) ?? name]),
      );
      const child = spawnGuarded({
        name,
        command: process.execPath,
        args: imageTarget('service').nodeArguments,
        workingDirectory: root,
        // The image listens on all addresses of the pod: here on the one that is the pod's.
        environment: {
          PATH: dirname(process.execPath),
          NODE_ENV: 'production',
          ...environment,
          HOST: address,
          ADMIN_HOST: address,
        },
        errors: 'read',
      });
      running.add(child);
      let log = '';
      const withdrawn = new Promise<void>((resolve) => {
        child.stderr?.on('data', (chunk: Buffer) => {
          log += chunk.toString();
          if (log.includes(WITHDRAWN)) resolve();
        });
      });
      let hasEnded = false;
      void child.ended.then(() => {
        hasEnded = true;
        running.delete(child);
      });
      const succeeds = ({ httpGet, timeoutSeconds }: Probe): Promise<boolean> =>
        answers(`http://${address}:${portOf(httpGet.port)}${httpGet.path}`, timeoutSeconds * 1_000);
      const passes = async (probe: Probe, title: string): Promise<void> => {
        await until(
          `${name}: the probe of ${title} succeeds`,
          () => (hasEnded ? Promise.reject(new Error(`${name} ended:\n${log}`)) : succeeds(probe)),
          { withinMs: probe.periodSeconds * probe.failureThreshold * 1_000, everyMs: 100 },
        );
      };
      await passes(container.startupProbe, 'the start');
      await passes({ ...container.readinessProbe, failureThreshold: 30 }, 'readiness');
      let isReady = true;
      const notReady = Promise.race([withdrawn, child.ended]).then(async () => {
        isReady = !hasEnded && (await succeeds(container.readinessProbe));
        assert.ok(!isReady, `${name} says that it is not ready, and its probe succeeds`);
      });
      notReady.catch(() => undefined);
      return {
        name,
        apiUrl: `http://${address}:${portOf('api')}/api/v1`,
        adminUrl: `http://${address}:${portOf('operators')}/admin/v1`,
        isReady: () => isReady,
        notReady,
        async end() {
          const graceMs = template.spec.terminationGracePeriodSeconds * 1_000;
          return (await child.stop({ graceMs })).code;
        },
      };
    },
    stop() {
      for (const child of running) child.signal('SIGKILL');
    },
  };
}

/** True if an address answers 200 to 399 in time, as a probe over HTTP requires. */
function answers(url: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { timeout: timeoutMs, agent: false }, ({ statusCode = 0 }) => {
      resolve(statusCode >= 200 && statusCode < 400);
      request.destroy();
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.on('close', () => resolve(false));
  });
}
