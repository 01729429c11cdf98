/** The documents in tools of others: a linter, and a generator of types for a program that is compiled and run. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { apiDocument, clientTypes } from '../../../bin/generators/client-types.ts';
import { root } from '../../testbed/root.ts';
import { ADMIN_TOKEN, type ServiceFixture, startService } from '../service-fixture.ts';

const TOOLS = join(root, 'tests/packages/document-tools');
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'document-tools-'));
let service: ServiceFixture;

before(async () => {
  assert.ok(existsSync(join(TOOLS, 'node_modules')), 'the tools are missing: bin/prepare-document-tools');
  service = await startService();
  const documents = {
    api: new URL('/openapi.json', service.apiUrl).href,
    operators: `${service.adminUrl}/admin/v1/openapi.json`,
  };
  for (const [name, url] of Object.entries(documents)) {
    const reply = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    assert.equal(reply.status, 200);
    writeFileSync(join(folder, `${name}.json`), await reply.text());
  }
  symlinkSync(join(TOOLS, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(TOOLS, 'redocly.yaml'), join(folder, 'redocly.yaml'));
  for (const name of ['typed-program.ts', 'same-types.ts'])
    copyFileSync(join(TOOLS, name), join(folder, name));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
after(async () => {
  rmSync(folder, { recursive: true });
  await service.stop();
});

/** Runs a program of the tools. It must not ask the network for newer versions of itself. */
function tool(path: string, ...parts: readonly string[]): Promise<{ readonly stdout: string }> {
  const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };
  return run(process.execPath, [join(TOOLS, 'node_modules', path), ...parts], { cwd: folder, env: quiet });
}

/** The linter's own bound; an older Node is for running the service, not for changing its document. */
const LINTER_RUNS = /^v(20\.(19|[2-9]\d)|2[1-9]|[3-9]\d)/.test(process.version);

test('the linter finds nothing in either document', async (context) => {
  if (!LINTER_RUNS) {
    context.diagnostic(`not asked: @redocly/cli wants Node 20.19, this is ${process.version}`);
    return;
  }
  await Promise.all(
    ['api.json', 'operators.json'].map(async (document) => {
      // It ends with 1 if it found an error, and prints its report all the same.
      const { stdout } = await tool('@redocly/cli/bin/cli.js', 'lint', document, '--format=json').catch(
        (failure: { readonly stdout: string }) => failure,
      );
      const { totals, problems } = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
      assert.deepEqual(problems, [], document);
      assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 }, document);
    }),
  );
});

/** Compiles a program in TypeScript. Fails with the compiler's output. */
async function compile(program: string): Promise<void> {
  const node = join(root, 'node_modules/@types');
  const options = [
    '--strict',
    '--target',
    'ES2023',
    '--module',
    'NodeNext',
    '--typeRoots',
    node,
    '--types',
    'node',
  ];
  const imports = ['--allowImportingTsExtensions', '--rewriteRelativeImportExtensions', '--skipLibCheck'];
  await tool('typescript/bin/tsc', ...options, ...imports, program).catch((error: { stdout?: string }) => {
    assert.fail(error.stdout ?? String(error));
  });
}

test('a program typed by both documents compiles, and runs', async () => {
  for (const name of ['api', 'operators'])
    await tool('openapi-typescript/bin/cli.js', `${name}.json`, '-o', `${name}.ts`);
  await compile('typed-program.ts');
  const { apiUrl, adminUrl } = service;
  const ran = await run(process.execPath, [join(folder, 'typed-program.js'), apiUrl, adminUrl, ADMIN_TOKEN]);
  assert.deepEqual(JSON.parse(ran.stdout), { same: true, missing: 'location' });
});

test("the client's types are those that openapi-typescript makes", async () => {
  await tool('openapi-typescript/bin/cli.js', 'api.json', '--immutable', '-o', 'api.ts');
  writeFileSync(join(folder, 'client-operations.ts'), clientTypes(apiDocument()));
  await compile('same-types.ts');
});
