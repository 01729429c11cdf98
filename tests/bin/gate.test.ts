import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { after, test } from 'node:test';
import { breaches } from '../../bin/import-rules.ts';

const root = resolve(import.meta.dirname, '../..');

/** A file that breaks the linter's rules, and the rule that must say so; `undefined` for one that breaks none. */
interface Planted {
  readonly path: string;
  readonly source: string;
  readonly rule: string | undefined;
}

const layer = 'lint/style/noRestrictedImports';
const use = (specifier: string): string => `import { something } from '${specifier}';\nconsume(something);\n`;

const planted: readonly Planted[] = [
  // What the layers allow.
  { path: 'http/down.ts', source: use('../actors/tenant/a.ts'), rule: undefined },
  { path: 'actors/tenant/down.ts', source: use('../../policy/a.ts'), rule: undefined },
  { path: 'policy/down.ts', source: use('../runtime/a.ts'), rule: undefined },
  { path: 'bin/all.ts', source: use('../http/a.ts'), rule: undefined },
  // What they refuse, in each form of an import; the arrows themselves follow from the table of rooms.
  { path: 'actors/tenant/up.ts', source: use('../../http/a.ts'), rule: layer },
  { path: 'actors/tenant/up-type.ts', source: `export type { A } from '../../http/a.ts';\n`, rule: layer },
  {
    path: 'actors/tenant/up-late.ts',
    source: `export const late = import('../../http/a.ts');\n`,
    rule: layer,
  },
  { path: 'simulator/clock.ts', source: use('../runtime/clock.ts'), rule: layer },
  { path: 'simulator/deep/actors.ts', source: use('../../actors/a.ts'), rule: layer },
  // Each library in its one place.
  { path: 'http/server.ts', source: use('uWebSockets.js'), rule: undefined },
  { path: 'http/pipeline.ts', source: use('uWebSockets.js'), rule: layer },
  { path: 'actors/session/worker-thread/socket.ts', source: use('@whiskeysockets/baileys'), rule: undefined },
  { path: 'actors/session/main-thread/socket.ts', source: use('@whiskeysockets/baileys'), rule: layer },
  { path: 'simulator/noise.ts', source: use('@whiskeysockets/baileys'), rule: undefined },
  { path: 'actors/tenant/socket.ts', source: use('@whiskeysockets/baileys'), rule: layer },
  { path: 'actors/tenant/signal.ts', source: use('libsignal'), rule: layer },
  { path: 'runtime/redis/client.ts', source: use('ioredis'), rule: undefined },
  { path: 'runtime/redis.ts', source: use('ioredis'), rule: layer },
  { path: 'actors/tenant/redis.ts', source: use('ioredis'), rule: layer },
  { path: 'bin/redis.ts', source: use('ioredis'), rule: layer },
  { path: 'actors/operators/om.ts', source: use('redis-om'), rule: undefined },
  { path: 'actors/operators/redis.ts', source: use('ioredis'), rule: layer },
  { path: 'runtime/om.ts', source: use('redis-om'), rule: layer },
  { path: 'policy/disk.ts', source: use('node:fs/promises'), rule: layer },
  // The environment.
  {
    path: 'bin/environment.ts',
    source: 'export const { env } = process;\nconsume(process.env.A);\n',
    rule: undefined,
  },
  { path: 'runtime/env.ts', source: 'consume(process.env.A);\n', rule: 'lint/style/noProcessEnv' },
  { path: 'http/env.ts', source: use('node:process'), rule: layer },
  { path: 'tests/env.test.ts', source: 'consume(process.env.A);\n', rule: 'lint/style/noProcessEnv' },
  // Cycles, types in them included.
  { path: 'runtime/ring-a.ts', source: use('./ring-b.ts'), rule: 'lint/suspicious/noImportCycles' },
  { path: 'runtime/ring-b.ts', source: use('./ring-a.ts'), rule: 'lint/suspicious/noImportCycles' },
  {
    path: 'policy/type-ring-a.ts',
    source: `import type { B } from './type-ring-b.ts';\nexport type A = B[];\n`,
    rule: 'lint/suspicious/noImportCycles',
  },
  {
    path: 'policy/type-ring-b.ts',
    source: `import type { A } from './type-ring-a.ts';\nexport type B = A[];\n`,
    rule: 'lint/suspicious/noImportCycles',
  },
  // Style that reviews would otherwise have to repeat.
  {
    path: 'runtime/floating.ts',
    source: `async function work(): Promise<void> {\n  await 1;\n}\nexport function start(): void {\n  work();\n}\n`,
    rule: 'lint/nursery/noFloatingPromises',
  },
  { path: 'runtime/any.ts', source: 'export const a: any = 1;\n', rule: 'lint/suspicious/noExplicitAny' },
  { path: 'runtime/default.ts', source: 'export default 1;\n', rule: 'lint/style/noDefaultExport' },
  { path: 'runtime/barrel.ts', source: `export * from './a.ts';\n`, rule: 'lint/performance/noReExportAll' },
  {
    path: 'runtime/notKebab.ts',
    source: 'export const a = 1;\n',
    rule: 'lint/style/useFilenamingConvention',
  },
  {
    path: 'tests/skipped.test.ts',
    source: `import { test } from 'node:test';\ntest.skip('later', () => consume(1));\n`,
    rule: 'lint/suspicious/noSkippedTests',
  },
];

/** A file for each arrow that no room may have to another. */
const breached: readonly Planted[] = breaches().map(({ room, target }) => ({
  path: `${room}/up-to-${target.replaceAll('/', '-')}.ts`,
  source: use(`${relative(room, target)}/a.ts`.replace(/^(?!\.)/, './')),
  rule: layer,
}));

const folder = mkdtempSync(join(tmpdir(), 'gate-'));
after(() => rmSync(folder, { recursive: true }));

function plant(): void {
  for (const file of ['biome.json', 'biome.imports.json', 'package.json', '.gitignore'])
    cpSync(join(root, file), join(folder, file));
  for (const { path, source } of [...planted, ...breached]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), source);
  }
}

interface Diagnostic {
  readonly category: string;
  readonly location: { readonly path: string };
}

function lint(): Promise<readonly Diagnostic[]> {
  const args = ['lint', '--reporter=json', '--max-diagnostics=none', '.'];
  return new Promise((resolve, reject) => {
    execFile(join(root, 'node_modules/.bin/biome'), args, { cwd: folder }, (_failure, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout).diagnostics);
      } catch {
        reject(new Error(`biome answered no report: ${stdout}${stderr}`));
      }
    });
  });
}

test('every rule of the linter goes red where it is broken, and only there', async (t) => {
  plant();
  const diagnostics = await lint();
  for (const { path, rule } of planted) {
    await t.test(`${path}: ${rule ?? 'allowed'}`, () => {
      const found = diagnostics.filter((diagnostic) => diagnostic.location.path === path);
      const categories = found.map((diagnostic) => diagnostic.category);
      if (rule !== undefined)
        assert.ok(categories.includes(rule), `${rule} is not among ${categories.join(', ')}`);
      else
        assert.deepEqual(
          categories.filter((category) => category === layer || category.includes('Env')),
          [],
        );
    });
  }
  await t.test('every arrow that the table of rooms leaves out', () => {
    const refused = new Set(diagnostics.map(({ category, location }) => `${category} ${location.path}`));
    const passed = breached.filter(({ path }) => !refused.has(`${layer} ${path}`));
    assert.deepEqual(
      passed.map(({ path, source }) => `${path}: ${source}`),
      [],
    );
  });
});
