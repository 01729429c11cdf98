import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../root.ts';

/** A file that breaks the linter's rules, and the rule that must report it; `undefined` for one that breaks none. */
interface Planted {
  readonly path: string;
  readonly source: string;
  readonly rule: string | undefined;
}

const use = (specifier: string): string => `import { something } from '${specifier}';\nconsume(something);\n`;

const planted: readonly Planted[] = [
  // The environment.
  {
    path: 'service/environment.ts',
    source: 'export const { env } = process;\nconsume(process.env.A);\n',
    rule: undefined,
  },
  { path: 'runtime/env.ts', source: 'consume(process.env.A);\n', rule: 'lint/style/noProcessEnv' },
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

const folder = mkdtempSync(join(tmpdir(), 'gate-'));
after(() => rmSync(folder, { recursive: true }));

function plant(): void {
  for (const file of ['biome.json', 'package.json', '.gitignore'])
    cpSync(join(root, file), join(folder, file));
  for (const { path, source } of planted) {
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

test('every rule of the linter fails for a file that breaks it, and for no other', async (context) => {
  plant();
  const diagnostics = await lint();
  for (const { path, rule } of planted) {
    await context.test(`${path}: ${rule ?? 'allowed'}`, () => {
      const found = diagnostics.filter((diagnostic) => diagnostic.location.path === path);
      const categories = found.map((diagnostic) => diagnostic.category);
      if (rule !== undefined) {
        assert.ok(categories.includes(rule), `${rule} is not among ${categories.join(', ')}`);
      } else {
        assert.deepEqual(
          categories.filter((category) => category.includes('Env')),
          [],
        );
      }
    });
  }
});
