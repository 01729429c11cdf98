/** Code that a document copies from a file is in that file. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../testbed/root.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('the code of README.md is the core of examples/tour.ts', () => {
  const [, code = ''] = /^```ts\n(.*?)^```/ms.exec(read('README.md')) ?? [];
  assert.ok(code.includes('sendMessage'), 'the code was not found');
  assert.ok(read('examples/tour.ts').includes(code), `examples/tour.ts has other lines than\n${code}`);
});

test('docs/changing.md: each line that its metric needed is in the file that the step names', () => {
  const [section = ''] = /^## A metric$.*?(?=^## )/ms.exec(read('docs/changing.md')) ?? [];
  const steps = section.split(/^\d\. /m).slice(1);
  const added = steps.flatMap((step) => {
    const [, path = ''] = /`(\w+\/[\w/.-]+\.\w+)`/.exec(step) ?? [];
    return [...step.matchAll(/^ *\+ *(.+)$/gm)].map(([, line = '']) => ({ path, line }));
  });
  assert.ok(added.length >= 6, `${added.length} lines`);
  assert.deepEqual(
    added.filter(({ path, line }) => !read(path).includes(line)),
    [],
  );
});
