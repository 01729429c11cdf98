/** Code that a document copies from a file is in that file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRepositoryFile } from '../testbed/read-repository-file.ts';

test('the code of README.md is the core of examples/tour.ts', () => {
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(readRepositoryFile('README.md')) ?? [];
  assert.ok(code.includes('sendMessage'), 'the code was not found');
  assert.ok(
    readRepositoryFile('examples/tour.ts').includes(code),
    `examples/tour.ts has other lines than\n${code}`,
  );
});

test('docs/changing.md: each line that its metric needed is in the file that the step names', () => {
  const [section = ''] = /^## A metric$.*?(?=^## )/ms.exec(readRepositoryFile('docs/changing.md')) ?? [];
  const steps = section.split(/^\d\. /m).slice(1);
  const added = steps.flatMap((step) => {
    const [, path = ''] = /`(\w+\/[\w/.-]+\.\w+)`/.exec(step) ?? [];
    return [...step.matchAll(/^ *\+ *(.+)$/gm)].map(([, line = '']) => ({ path, line }));
  });
  assert.ok(added.length >= 6, `${added.length} lines`);
  assert.deepEqual(
    added.filter(({ path, line }) => !readRepositoryFile(path).includes(line)),
    [],
  );
});
