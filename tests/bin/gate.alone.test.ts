import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '../testbed/root.ts';

/** A file that breaks the linter's rules, and the rule that must report it; `undefined` for one that breaks none. */
interface Planted {
  readonly path: string;
  readonly source: string;
  readonly rule: string | undefined;
}

const use = (specifier: string): string => `import { something } from '${specifier}';\nconsume(something);\n`;

/** A function around a statement, which is as the formatter writes it: `bin/code-form.grit` reports it, or not. */
const form = (name: string, statement: string, rule: string | undefined): Planted => ({
  path: `runtime/form/${name}.ts`,
  source: `export function act(one: number, text?: string): unknown {\n${statement}\n}\n`,
  rule,
});

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
  // The form of branches, bodies and absent fields, and the name of what is caught.
  form('block-then-statement', 'if (one > 1) {\n  act(1);\n} else act(2);', 'plugin'),
  form('statement-then-block', 'if (one > 1) act(1);\nelse {\n  act(2);\n}', 'plugin'),
  form('block-then-condition', 'if (one > 1) {\n  act(1);\n} else if (one < 0) act(2);', 'plugin'),
  form('statement-then-condition', 'if (one > 1) act(1);\nelse if (one < 0) {\n  act(2);\n}', 'plugin'),
  form('all-blocks', 'if (one > 1) {\n  act(1);\n} else if (one < 0) {\n  act(2);\n}', undefined),
  form('no-blocks', 'if (one > 1) act(1);\nelse if (one < 0) act(2);\nelse act(3);', undefined),
  form('long-branch', 'if (one > 1)\n  act(\n    1,\n  );', 'plugin'),
  form('long-alternative', 'if (one > 1) act(1);\nelse\n  act(\n    2,\n  );', 'plugin'),
  form('long-body', 'for (const each of [one])\n  act(\n    each,\n  );', 'plugin'),
  form('short-body', 'if (one > 1)\n  act(1);\nfor (const each of [one]) act(each);', undefined),
  form('absent', 'return { ...(text ? { text } : {}) };', 'plugin'),
  form('absent-with-name', 'return { ...(text ? { name: text } : {}) };', 'plugin'),
  form('absent-with-and', 'return { ...(text && { text }) };', 'plugin'),
  form('absent-by-type', 'return { ...(text === undefined ? {} : { text }) };', undefined),
  form('caught-cause', 'try {\n  return act(1);\n} catch (cause) {\n  return cause;\n}', 'plugin'),
  form('caught-error', 'try {\n  return act(1);\n} catch (error) {\n  return error;\n}', undefined),
  form('braces-of-one-line', 'if (one > 1) {\n  act(1);\n}', 'plugin'),
  form('braces-of-for-of', 'for (const each of [one]) {\n  act(each);\n}', 'plugin'),
  form('braces-of-for', 'for (let each = 0; each < one; each += 1) {\n  act(each);\n}', 'plugin'),
  form('braces-of-for-in', 'for (const name in { one }) {\n  act(1, name);\n}', 'plugin'),
  form('braces-of-while', 'while (one > 1) {\n  act(1);\n}', 'plugin'),
  form('braces-of-condition', 'for (const each of [one]) {\n  if (each > 1) act(each);\n}', undefined),
  form('braces-of-two-lines', 'while (one > 1) {\n  act(1);\n  act(2);\n}', undefined),
  form('long-number', 'return 10000;', 'plugin'),
  form('thousand', 'return 1000;', 'plugin'),
  form('separated-number', 'return 10_000;', undefined),
  form('boolean', 'const isOne = one === 1;\nreturn { ...(isOne ? { isOne } : {}) };', undefined),
];

const folder = mkdtempSync(join(tmpdir(), 'gate-'));
after(() => rmSync(folder, { recursive: true }));

function plant(): void {
  for (const file of ['biome.json', 'bin/code-form.grit', 'package.json', '.gitignore'])
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
      const foundDiagnostics = diagnostics.filter((diagnostic) => diagnostic.location.path === path);
      const categories = foundDiagnostics.map((diagnostic) => diagnostic.category);
      if (rule !== undefined) {
        assert.ok(categories.includes(rule), `${rule} is not among ${categories.join(', ')}`);
      } else {
        assert.deepEqual(
          categories.filter((category) => category.includes('Env') || category === 'plugin'),
          [],
        );
      }
    });
  }
});
