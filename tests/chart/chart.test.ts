/**
 * The chart of deploy/helm: Helm renders it, Kubernetes' types know what it makes, and nothing in it is a second
 * source.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { SETTING_GROUPS } from '../../bin/generators/settings-table.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { helm, type Manifest, readYaml, renderChart, TOOLS, withoutHelm } from './chart-tools.ts';

const examples = readdirSync(join(root, 'deploy/helm/examples')).map(
  (name) => `deploy/helm/examples/${name}`,
);
const skip = withoutHelm;

test('helm lint finds nothing, with the values of the chart and with those of each example', {
  skip,
}, async () => {
  for (const values of [[], ...examples.map((path) => ['--values', path])])
    assert.match(await helm('lint', '--strict', 'deploy/helm', ...values), /1 chart\(s\) linted, 0 chart/);
});

/** Returns the path in the packages of the type and the validator of a kind. */
function modelOf({ apiVersion, kind }: Manifest): string {
  const folder = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  return `${folder}/${apiVersion}/${kind}.js`;
}

/** Returns the problems of objects for Kubernetes: values that their schemas refuse, and fields that no type has. */
async function problemsOf(manifests: readonly Manifest[]): Promise<string[]> {
  const problems: string[] = [];
  for (const manifest of manifests) {
    const url = pathToFileURL(join(TOOLS, 'node_modules', modelOf(manifest))).href;
    const models = (await import(url)) as Record<string, new (data: Manifest) => { validate(): void }>;
    const Model = models[manifest.kind];
    assert.ok(Model, `${manifest.kind} is not known`);
    try {
      new Model(manifest).validate();
    } catch (error) {
      problems.push(`${manifest.kind}: ${String(error)}`);
    }
  }
  return [...problems, ...(await unknownFields(manifests))];
}

/** The schemas of Kubernetes let unknown fields pass, as its servers do with a warning; the compiler does not. */
async function unknownFields(manifests: readonly Manifest[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  symlinkSync(join(TOOLS, 'node_modules'), join(folder, 'node_modules'));
  const lines = manifests.flatMap((manifest, index) => [
    `import type { I${manifest.kind} as Kind${index} } from '${modelOf(manifest).replace(/\.js$/, '')}';`,
    `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`,
  ]);
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--module',
    'NodeNext',
    '--target',
    'ES2023',
    '--types',
    '',
  ];
  try {
    await promisify(execFile)(process.execPath, [compiler, ...options, 'manifests.ts'], { cwd: folder });
    return [];
  } catch (error) {
    return [String((error as { readonly stdout: string }).stdout)];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('Kubernetes accepts each object of the chart and each field of it', { skip }, async () => {
  const releases = [
    await renderChart(),
    ...(await Promise.all(examples.map((path) => renderChart(['--values', path])))),
  ];
  const kinds = new Set(releases.flat().map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), [
    'ConfigMap',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Ingress',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'PrometheusRule',
    'Service',
    'ServiceMonitor',
  ]);
  assert.deepEqual(await problemsOf(releases.flat()), []);
});

test('a field that Kubernetes does not know is found, and a value that it refuses', { skip }, async () => {
  const [deployment] = (await renderChart()).filter(({ kind }) => kind === 'Deployment');
  assert.ok(deployment);
  const spec = deployment.spec as object;
  const planted = [
    { ...deployment, spec: { ...spec, replica: 3 } },
    { ...deployment, spec: { ...spec, replicas: 'three' } },
  ];
  const problems = (await problemsOf(planted)).join('\n');
  assert.match(problems, /"replica"' does not exist in type/);
  assert.match(problems, /replicas must be integer/);
});

test('alert rules and dashboard are those of deploy/monitoring', { skip }, async () => {
  const manifests = await renderChart(['--values', 'deploy/helm/examples/everything.yaml']);
  const rules = manifests.find(({ kind }) => kind === 'PrometheusRule');
  assert.deepEqual([rules?.spec], readYaml(readRepositoryFile('deploy/monitoring/alert-rules.yaml')));
  const dashboard = manifests.find(({ kind }) => kind === 'ConfigMap')?.data?.['tenant-messaging.json'];
  assert.equal(
    dashboard?.trimEnd(),
    readRepositoryFile('deploy/monitoring/grafana-dashboard.json').trimEnd(),
  );
});

/** Settings that the templates decide, or that a pod has no use for. */
const DECIDED = new Set([
  'ADMIN_PORT',
  'DATA_DIR',
  'NODE_ID',
  'PORT',
  'REVISION',
  'SHUTDOWN_DELAY_MS',
  'SIMULATOR_HOST',
  'SIMULATOR_MEDIA_PORT',
  'SIMULATOR_PORT',
]);

test('the values take each setting of the table that the templates do not decide, and no secret as a text', () => {
  const settings = SETTING_GROUPS.flatMap((group) => group.settings);
  const files = settings
    .filter(({ readBy }) => readBy === 'secret files')
    .map(({ name }) => name.slice(0, -5));
  const { properties } = JSON.parse(readRepositoryFile('deploy/helm/values.schema.json')) as {
    readonly properties: {
      readonly settings: { readonly properties: Readonly<Record<string, unknown>> };
      readonly secret: {
        readonly properties: { readonly keys: { readonly items: { readonly enum: unknown } } };
      };
    };
  };
  assert.deepEqual(properties.secret.properties.keys.items.enum, files.sort());
  const texts = settings
    .filter(({ readBy }) => readBy !== 'compose.yaml' && readBy !== 'secret files')
    .map(({ name }) => name)
    .filter((name) => !DECIDED.has(name) && (name === 'REDIS_URL' || !files.includes(name)));
  assert.deepEqual(Object.keys(properties.settings.properties), texts.sort());
});

const refused: readonly (readonly [values: string, sentence: RegExp])[] = [
  ['replica=3', /additional properties 'replica' not allowed/],
  ['settings.NODE_ID=a', /additional properties 'NODE_ID' not allowed/],
  ['settings.REDIS_URL=redis://other', /'oneOf' failed/],
  ['secret.keys={ADMIN_TOKEN,REDIS_URL}', /value must be 'CREDENTIALS_KEY'/],
  ['secret.keys={CREDENTIALS_KEY,REDIS_URL},monitoring.serviceMonitor=true', /value must be 'METRICS_TOKEN'/],
  [
    'ingress.enabled=true,ingress.host=a.example,ingress.tlsSecretName=a',
    /missing properties.*'TRUSTED_PROXIES'/,
  ],
];

for (const [values, sentence] of refused) {
  test(`${values} is refused`, { skip }, async () => {
    await assert.rejects(renderChart(['--set', values]), ({ stderr }: { readonly stderr: string }) =>
      sentence.test(stderr),
    );
  });
}

test('the grace of a pod covers the delay of its end and 15 s, and its name is a node id', {
  skip,
}, async () => {
  const manifests = await renderChart(['--set', 'shutdownDelaySeconds=30'], 'a'.repeat(53));
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const text = JSON.stringify(deployment);
  assert.match(text, /"terminationGracePeriodSeconds":45\b/);
  assert.match(text, /{"name":"SHUTDOWN_DELAY_MS","value":"30000"}/);
  // A pod of a Deployment has two parts more, of ten characters and of five.
  assert.ok((deployment?.metadata.name.length ?? 0) + '-0123456789-01234'.length <= 64);
});
