/** A little of `npm run fuzz` on each target, and that a defect is reported with the case that gives it again. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../testbed/root.ts';
import { testEnvironment } from '../testbed/test-environment.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { runFuzz } from './run-fuzz.ts';
import { CALLS } from './targets/scripts.ts';
import { FUZZ_TARGETS } from './targets.ts';

/** Cases of each target, some seconds in all. */
const CASES: Readonly<Record<string, number>> = { sessions: 50, bodies: 100, heads: 100 };
const USUAL_CASES = 300;
const { seed } = testEnvironment();

for (const target of FUZZ_TARGETS) {
  test(`${target.name}: nothing that is broken or made up breaks a promise`, async (context) => {
    context.diagnostic(`seed ${seed}`);
    const most = CASES[target.name] ?? USUAL_CASES;
    const { cases, defects } = await runFuzz(target, { seed, goesOn: (tried) => tried < most });
    assert.deepEqual(defects, []);
    assert.equal(cases, most);
  });
}

test('the corpus has a call of every script of the service', () => {
  const scripts = ['runtime', 'actors', 'http'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua'))
      .map((path) => `${folder}/${path}`),
  );
  assert.deepEqual([...new Set(CALLS.map(({ script }) => script))].sort(), scripts.sort());
});

test('a case that fails is reported with its number and its input, and gives the same input again', async () => {
  const target: FuzzTarget = {
    name: 'fails',
    open: async () => ({
      async tryCase(draw, note) {
        const text = draw.mutatedText('a whole text');
        note(text);
        assert.ok(!text.includes('\u0000'), 'it has a zero');
      },
      close: async () => undefined,
    }),
  };
  const { defects } = await runFuzz(target, { seed: 1, goesOn: (tried) => tried < 200 });
  const [first] = defects;
  assert.ok(first);
  const secondReport = await runFuzz(target, { seed: 1, first: first.number, goesOn: (tried) => tried < 1 });
  assert.deepEqual(
    secondReport.defects.map(({ number, input }) => ({ number, input })),
    [{ number: first.number, input: first.input }],
  );
});
