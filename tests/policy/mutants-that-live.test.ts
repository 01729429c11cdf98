import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explains, mutantsOf, policyFiles } from './mutants-of.ts';
import { livingMutants } from './mutants-that-live.ts';

test('each entry of the list explains a mutant of the policy as it is now', () => {
  const mutants = policyFiles().flatMap(mutantsOf);
  const stale = livingMutants.filter((entry) => !mutants.some((mutant) => explains(entry, mutant)));
  assert.deepEqual(
    stale.map(({ file, before, after }) => `${file}: ${after ?? before}`),
    [],
  );
});
