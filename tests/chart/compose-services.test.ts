/**
 * compose.yaml and compose.try.yaml without an engine: the parts agree with each other, with the Dockerfile and with
 * the files that they mount. The nodes' environment and the command of Redis are run. `npm run test:containers` runs
 * all of it, and needs a Docker engine.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import * as v from 'valibot';
import { ASSUMPTION_NAMES, isHeld, parseServerState } from '../../runtime/store-assumptions.ts';
import { spawnGuarded } from '../../service/dev/guarded-process.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { imageTarget } from '../e2e/stack/image-target.ts';
import { key } from '../service/refused-environment.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';
import { until } from '../testbed/waiting.ts';
import { readYaml } from './chart-tools.ts';

const names = v.array(v.string());
const serviceSchema = v.object({
  image: v.string(),
  build: v.optional(
    v.object({ context: v.string(), target: v.string(), args: v.record(v.string(), v.string()) }),
  ),
  command: v.optional(names),
  environment: v.optional(v.record(v.string(), v.string()), {}),
  volumes: v.optional(names, []),
  ports: v.optional(names, []),
  networks: v.optional(v.union([names, v.record(v.string(), v.object({ ipv4_address: v.string() }))]), []),
  depends_on: v.optional(v.union([names, v.record(v.string(), v.object({ condition: v.string() }))]), []),
  healthcheck: v.optional(v.object({ test: v.optional(names) })),
});
const fileSchema = v.object({
  services: v.record(v.string(), serviceSchema),
  volumes: v.record(v.string(), v.unknown()),
  networks: v.optional(
    v.record(
      v.string(),
      v.object({ ipam: v.object({ config: v.tuple([v.object({ subnet: v.string() })]) }) }),
    ),
    {},
  ),
});
type ComposeFile = v.InferOutput<typeof fileSchema>;
type ComposeService = v.InferOutput<typeof serviceSchema>;

/** Fills in variables as Compose does. Source: docs.docker.com, Compose file reference, Interpolation. */
function filledIn(text: string, given: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\{(\w+)([^}]*)\}/g, (whole, name: string, rest: string) => {
    if (whole === '$$') return '$';
    const [, mark = '', otherwise = ''] = /^(:?[-?])(.*)$/.exec(rest) ?? [];
    const value = given[name];
    const isMissing = value === undefined || (mark.startsWith(':') && value === '');
    if (isMissing && mark.endsWith('?')) throw new Error(`${name}: ${otherwise}`);
    return isMissing ? otherwise : value;
  });
}

/** Reads a file as Compose does: its texts are filled in after the YAML was read, so an empty value stays a text. */
function compose(path: string, given: Readonly<Record<string, string>>): ComposeFile {
  const fill = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? filledIn(value, given) : value;
  const [file] = readYaml(readRepositoryFile(path));
  return v.parse(fileSchema, JSON.parse(JSON.stringify(file, fill)));
}

const SECRETS = { ADMIN_TOKEN: 'f'.repeat(48), CREDENTIALS_KEY: key };
const production = compose('compose.yaml', SECRETS);
const tryOut = compose('compose.try.yaml', {});
const files = { 'compose.yaml': production, 'compose.try.yaml': tryOut };

const service = ({ services }: ComposeFile, name: string): ComposeService => {
  const found = services[name];
  assert.ok(found, `the service ${name}`);
  return found;
};
const addressOf = (name: string): string => {
  const { networks } = service(production, name);
  return Array.isArray(networks) ? '' : (networks.inside?.ipv4_address ?? '');
};
/** The port inside of a container that a port is published of. */
const insidePorts = ({ ports }: ComposeService): string[] =>
  ports.map((each) => each.split(':').at(-1) ?? '').sort();
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, part = '']) => part);

for (const [path, file] of Object.entries(files)) {
  test(`${path}: each volume, network and service that is named is there, and each volume is used`, () => {
    const used = new Set<string>();
    for (const [name, each] of Object.entries(file.services)) {
      for (const volume of each.volumes) {
        const [source = '', target = ''] = volume.split(':');
        assert.ok(target.startsWith('/'), `${name}: ${volume}`);
        if (source.startsWith('./')) assert.ok(existsSync(join(root, source)), `${name}: ${source}`);
        else used.add(source);
      }
      const needed = Array.isArray(each.depends_on) ? each.depends_on : Object.keys(each.depends_on);
      for (const other of needed) assert.ok(file.services[other], `${name} depends on ${other}`);
      const networks = Array.isArray(each.networks) ? each.networks : Object.keys(each.networks);
      for (const network of networks) assert.ok(file.networks[network], `${name} is in ${network}`);
    }
    assert.deepEqual([...used].sort(), Object.keys(file.volumes).sort());
  });
}

test('a service that another waits for has a health check', () => {
  const awaited = Object.values(production.services).flatMap(({ depends_on }) =>
    Array.isArray(depends_on)
      ? []
      : Object.entries(depends_on).flatMap(([name, { condition }]) =>
          condition === 'service_healthy' ? [name] : [],
        ),
  );
  assert.ok(awaited.includes('node-1') && awaited.includes('redis'));
  const [, image = ''] = readRepositoryFile('Dockerfile').split(/^FROM scratch AS service$/m);
  for (const name of awaited) {
    const { healthcheck } = service(production, name);
    const isOfImage = name.startsWith('node-') && /^HEALTHCHECK /m.test(image);
    assert.ok(isOfImage || healthcheck?.test !== undefined, name);
  }
});

test('addresses are free ones of the network, and the proxies lead to them', () => {
  const [{ subnet }] = production.networks.inside?.ipam.config ?? [{ subnet: '' }];
  const [base = '', bits] = subnet.split('/');
  const network = new BlockList();
  network.addSubnet(base, Number(bits));
  const addresses = ['node-1', 'node-2', 'front', 'tls'].map(addressOf);
  for (const address of addresses) assert.ok(network.check(address), address);
  // Docker takes the first one for the host.
  assert.equal(new Set([...addresses, base.replace(/0$/, '1')]).size, addresses.length + 1);
  const nodes = ['node-1', 'node-2'].map(addressOf);
  const upstreams = matches(readRepositoryFile('deploy/front/nginx.conf'), /^ +server ([\d.]+:\d+)/gm);
  assert.deepEqual(
    [...new Set(upstreams)].sort(),
    nodes.flatMap((address) => [`${address}:3000`, `${address}:3001`]).sort(),
  );
  const { environment } = imageTarget('service');
  const { port, adminPort } = serviceEnvironment({ ...environment, ...nodeVariables('node-1') });
  assert.deepEqual([port, adminPort], [3000, 3001]);
  assert.ok(
    readRepositoryFile('deploy/front/Caddyfile').includes(`reverse_proxy ${addressOf('front')}:3000`),
  );
  const trusted = service(production, 'node-1').environment.TRUSTED_PROXIES?.split(',') ?? [];
  assert.deepEqual(new Set(trusted), new Set([addressOf('tls'), addressOf('front')]));
});

test('the published ports are those on which the programs listen', () => {
  const listens = matches(readRepositoryFile('deploy/front/nginx.conf'), /^ +listen (\d+);/gm).sort();
  assert.deepEqual(insidePorts(service(production, 'front')), listens);
  const caddy = matches(readRepositoryFile('deploy/front/Caddyfile'), /^\t+https?_port (\d+)$/gm).sort();
  assert.deepEqual(insidePorts(service(production, 'tls')), caddy);
  const [source = ''] = matches(
    readRepositoryFile('deploy/monitoring/provisioning/datasource.yaml'),
    /url: http:\/\/(\S+)$/gm,
  );
  assert.equal(source, `prometheus:${insidePorts(service(production, 'prometheus'))[0]}`);
  const scraped = matches(readRepositoryFile('deploy/monitoring/prometheus.yaml'), /"(node-\d):3001"/g);
  assert.deepEqual(
    scraped,
    Object.keys(production.services).filter((name) => name.startsWith('node-')),
  );
});

/** The variables that Compose gives a node. */
function nodeVariables(name: string, file = production): Readonly<Record<string, string>> {
  return service(file, name).environment;
}

test('a node starts with what compose.yaml passes on, from .env.example with its two secrets alone', () => {
  const example = Object.fromEntries(
    readRepositoryFile('.env.example')
      .split('\n')
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => line.split('=', 2) as [string, string]),
  );
  assert.deepEqual(Object.keys(example).sort(), Object.keys(SECRETS).sort());
  const file = compose('compose.yaml', { ...example, ...SECRETS });
  const { environment } = imageTarget('service');
  for (const name of ['node-1', 'node-2']) {
    const settings = serviceEnvironment({ ...environment, ...nodeVariables(name, file) });
    assert.equal(settings.nodeId, name);
    assert.equal(settings.redisUrl, 'redis://redis:6379');
    assert.deepEqual([settings.host, settings.adminHost], ['0.0.0.0', '0.0.0.0']);
  }
  assert.throws(() => compose('compose.yaml', {}), /ADMIN_TOKEN: set ADMIN_TOKEN/);
});

test('Redis starts with the command of compose.yaml and meets the assumptions of the nodes', async (context) => {
  const [program = '', ...args] = service(production, 'redis').command ?? [];
  assert.equal(program, 'redis-server');
  const folder = mkdtempSync(join(tmpdir(), 'compose-redis-'));
  const socket = join(folder, 'redis.sock');
  const own = ['--port', '0', '--unixsocket', socket, '--dir', folder, '--logfile', 'redis.log'];
  const server = spawnGuarded({ name: program, command: program, args: [...args, ...own] });
  context.after(async () => {
    await server.stop({ graceMs: 5_000 });
    rmSync(folder, { recursive: true });
  });
  await until('Redis listens', () => Promise.resolve(existsSync(socket)));
  const redis = new Redis(socket);
  const state = parseServerState('redis', await redis.info());
  for (const name of ASSUMPTION_NAMES) assert.ok(isHeld(name, [state]), name);
  const given = ['appendfsync', 'maxmemory', 'lazyfree-lazy-expire', 'save'];
  const configured = await redis.call('CONFIG', 'GET', ...given);
  const settings = new Map(
    Array.from({ length: given.length }, (_, index) =>
      (configured as string[]).slice(index * 2, index * 2 + 2),
    ) as [string, string][],
  );
  assert.deepEqual(
    given.map((name) => settings.get(name)),
    ['always', String(2 ** 30), 'yes', ''],
  );
  redis.disconnect();
});

test('compose.try.yaml builds a target of the Dockerfile, with arguments that it takes', () => {
  const { build } = service(tryOut, 'try');
  assert.ok(build);
  assert.ok(existsSync(join(root, build.context, 'Dockerfile')));
  assert.equal(imageTarget(build.target).entryPoint.length > 1, true);
  for (const [name, value] of Object.entries(build.args))
    assert.match(readRepositoryFile('Dockerfile'), new RegExp(`^ARG ${name}=${value}$`, 'm'));
});

test('the stages of the Dockerfile copy from earlier ones, and run scripts of the repository', () => {
  const lines = readRepositoryFile('Dockerfile').replaceAll('\\\n', '').split('\n');
  const stages = new Set<string>();
  for (const line of lines) {
    const [, base = '', stage = ''] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
    if (stage !== '') {
      assert.ok(/^scratch$|^\$\{BUILD_BASE\}$/.test(base) || stages.has(base), line);
      stages.add(stage);
    }
    const [, from] = /^COPY --from=(\S+) /.exec(line) ?? [];
    if (from !== undefined) assert.ok(stages.has(from), line);
    for (const script of line.startsWith('RUN ') ? matches(line, /(?<!\S)(image\/[\w-]+)/g) : [])
      assert.ok(statSync(join(root, script)).mode & 0o100, `${script} can be run`);
  }
  for (const target of ['service', 'simulator', 'try']) {
    assert.ok(stages.has(target));
    const [, program = ''] = /^dist\/(.+)\.js$/.exec(imageTarget(target).entryPoint.at(-1) ?? '') ?? [];
    assert.ok(existsSync(join(root, `${program}.ts`)), `${target} starts ${program}`);
  }
});
