import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import {
  allowedImports,
  importsIn,
  isBelow,
  LIBRARY_PLACES,
  modules,
  refusedImports,
  TOP_FOLDERS,
} from '../../bin/gate/import-rules.ts';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';
import { root } from '../testbed/root.ts';

const sources = TOP_FOLDERS.flatMap((folder) => sourcesOf(join(root, folder)));

/** The program's files below a folder, without what is made of them; the console's own run in a browser. */
function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('app/') && !path.startsWith('dist/'))
    .map((path) => relative(root, join(folder, path)));
}

/** The modules that a file imports from, itself left out. */
function importedRooms(path: string): string[] {
  const module = dirname(path);
  return importsIn(readRepositoryFile(path))
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(module, dirname(specifier)))
    .filter((target) => target !== module);
}

/** Imports that the tables allow or refuse: a file, its import, and true if it is allowed. */
const cases: readonly [path: string, specifier: string, mayImport: boolean][] = [
  ['http/contract/down.ts', '../../actors/tenants/a.ts', true],
  ['actors/tenants/down.ts', '../../policy/a.ts', true],
  ['policy/down.ts', '../runtime/a.ts', true],
  ['policy/beside.ts', './a.ts', true],
  ['service/all.ts', '../http/a.ts', true],
  ['service/all.ts', './dev/a.ts', false],
  ['service/dev/all.ts', '../a.ts', true],
  ['actors/tenants/up.ts', '../../http/a.ts', false],
  ['runtime/up.ts', '../service/a.ts', false],
  ['runtime/tests.ts', '../tests/a.ts', false],
  ['service/tests.ts', '../tests/testbed/a.ts', false],
  ['bin/bench.ts', '../bench/harness/a.ts', false],
  // Tests and benches share a test bed. Only tests import benches.
  ['tests/testbed/network/a.ts', '../../../service/dev/a.ts', true],
  ['tests/testbed/a.ts', '../runtime/a.ts', false],
  ['tests/testbed/a.ts', '../../bench/load/a.ts', false],
  ['bench/sides/a.ts', '../../tests/testbed/network/a.ts', true],
  ['bench/sides/a.ts', '../../tests/e2e/a.ts', false],
  ['bench/sides/a.ts', '../../http/socket/a.ts', true],
  ['tests/bench/a.ts', '../../bench/harness/a.ts', true],
  ['tests/e2e/a.ts', '../testbed/a.ts', true],
  ['tests/e2e/a.ts', 'ioredis', true],
  ['simulator/clock.ts', '../runtime/clock.ts', false],
  ['simulator/deep/actors.ts', '../../actors/a.ts', false],
  ['client/src/a.ts', '../../http/contract/a.ts', false],
  ['examples/a.ts', 'tenant-messaging-client', true],
  ['examples/a.ts', '../client/src/a.ts', false],
  // Each library in its one place, with all its files.
  ['http/socket/uwebsockets.ts', '@uwsjs/linux-x64-24', true],
  ['http/socket/server.ts', '@uwsjs/linux-x64-24', false],
  ['actors/sessions/worker-thread/socket.ts', '@whiskeysockets/baileys/lib/a.js', true],
  ['actors/sessions/main-thread/socket.ts', '@whiskeysockets/baileys', false],
  ['simulator/noise.ts', '@whiskeysockets/baileys', true],
  ['actors/tenants/socket.ts', '@whiskeysockets/baileys/lib/a.js', false],
  ['actors/tenants/signal.ts', 'libsignal', false],
  ['actors/sessions/worker-thread/keys/ratchets.ts', 'libsignal', false],
  ['runtime/redis/client.ts', 'ioredis', true],
  ['runtime/redis.ts', 'ioredis', false],
  ['service/redis.ts', 'ioredis', false],
  ['actors/operators/directory-connection.ts', 'redis', true],
  ['actors/operators/operators-directory.ts', 'redis', false],
  ['actors/operators/operators-directory.ts', 'redis-om', true],
  ['actors/operators/om.ts', 'redis-om', false],
  ['actors/operators/redis.ts', 'ioredis', false],
  ['http/articles/page.ts', 'marked', true],
  ['http/console/page.ts', 'marked', false],
  ['actors/sessions/worker-thread/attachments/image.ts', 'sharp', true],
  ['actors/sessions/main-thread/image.ts', 'sharp', false],
  ['actors/shops/machines/machine.ts', 'xstate', true],
  ['actors/shops/state/machine.ts', 'xstate', false],
  ['service/process-log.ts', 'pino', true],
  ['policy/log.ts', 'pino', false],
  ['actors/sessions/main-thread/qr-image.ts', 'piscina', true],
  ['actors/sessions/main-thread/threads.ts', 'piscina', false],
  ['actors/sessions/main-thread/qr-image-worker.ts', 'qrcode', true],
  ['actors/sessions/main-thread/qr-image.ts', 'qrcode', false],
  ['http/metrics/metrics.ts', 'prom-client', true],
  ['http/metrics/node-metrics.ts', 'prom-client', false],
  ['actors/outbound/egress.ts', 'https-proxy-agent', true],
  ['actors/outbound/egress-check.ts', 'agent-base', false],
  ['actors/webhooks/deliver.ts', 'socks-proxy-agent', false],
  ['service/otlp-tracing.ts', '@opentelemetry/api', true],
  ['service/spans.ts', '@opentelemetry/api', false],
  ['policy/disk.ts', 'node:fs/promises', false],
  ['policy/library.ts', 'valibot', true],
  ['http/env.ts', 'node:process', false],
  ['service/env.ts', 'node:process', false],
];

/** Each form in which a file may import another. */
const forms: readonly ((specifier: string) => string)[] = [
  (specifier) => `import { something } from '${specifier}';`,
  (specifier) => `import '${specifier}';`,
  (specifier) => `import type {\n  A,\n  B,\n} from "${specifier}";`,
  (specifier) => `export type { A } from '${specifier}';`,
  (specifier) => `const late = await import(\n  '${specifier}',\n);`,
  (specifier) => `let a: typeof import('${specifier}');`,
  (specifier) => `const old = require('${specifier}');`,
  (specifier) => `const old = createRequire(import.meta.url)('${specifier}');`,
];

for (const [path, specifier, mayImport] of cases) {
  test(`${path} ${mayImport ? 'may' : 'must not'} import ${specifier}, in any form`, () => {
    for (const form of forms)
      assert.equal(refusedImports(path, form(specifier)).length, mayImport ? 0 : 1, form(specifier));
  });
}

test('every pair of modules without an arrow is refused', () => {
  for (const [module, targets] of Object.entries(allowedImports)) {
    for (const target of modules.filter((other) => other !== module)) {
      const specifier = `${relative(module, target)}/a.ts`.replace(/^(?!\.)/, './');
      const refused = refusedImports(`${module}/a.ts`, `import { a } from '${specifier}';`);
      assert.equal(refused.length, targets.includes(target) ? 0 : 1, `${module} → ${target}`);
    }
  }
});

test('a refusal names the file and the import; comments are not imports', () => {
  const text = `/** See import('../http/a.ts'). */\n// from '../http/b.ts'\nimport '../http/c.ts';\n`;
  assert.deepEqual(refusedImports('policy/a.ts', text), [
    'policy/a.ts must not import ../http/c.ts: see bin/gate/import-rules.ts',
  ]);
});

test('every folder with a program in it is in the table; the simulator is one module', () => {
  const folders = sources.map((path) => (path.startsWith('simulator/') ? 'simulator' : dirname(path)));
  assert.deepEqual([...new Set(folders)].sort(), [...modules].sort());
});

test('no arrow of the table is without an import', () => {
  const used = new Set(
    sources.flatMap((path) => importedRooms(path).map((target) => `${dirname(path)} → ${target}`)),
  );
  // The chain of the large modules is a rule of the architecture, whether or not an import uses it today.
  const allowed = Object.entries(allowedImports).flatMap(([module, targets]) =>
    targets
      .filter((target) => module.includes('/') || target.includes('/'))
      .map((target) => `${module} → ${target}`),
  );
  assert.deepEqual(
    allowed.filter((arrow) => !used.has(arrow)),
    [],
  );
});

test('each place of a library has a file that imports it', () => {
  const imports = sources.flatMap((path) =>
    importsIn(readRepositoryFile(path)).map((specifier) => ({ path, specifier })),
  );
  const granted = Object.entries(LIBRARY_PLACES).flatMap(([library, places]) =>
    places.map((place) => ({ library, place })),
  );
  const unused = granted.filter(
    ({ library, place }) =>
      !imports.some(({ path, specifier }) => isBelow(specifier, library) && isBelow(path, place)),
  );
  assert.deepEqual(unused, []);
});

test('each row allows only rows above it, so no two modules may import each other', () => {
  const rows = Object.keys(allowedImports);
  const below = Object.entries(allowedImports).flatMap(([module, targets]) =>
    targets
      .filter((target) => rows.indexOf(target) >= rows.indexOf(module))
      .map((target) => `${module} → ${target}`),
  );
  assert.deepEqual(below, []);
});
