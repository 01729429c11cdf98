import type { TestContext } from 'node:test';
import { testEnvironment } from './test-environment.ts';

/**
 * Returns seed and number of sequences of a property test: `TEST_SEED` or 1, and the test's own number. A test file
 * that runs by itself may set `--seed=…` and `--runs=…`. The test's output shows both, so that every run can be
 * repeated.
 */
export function propertyRuns(test: TestContext, usualRuns: number): { seed: number; numRuns: number } {
  const seed = argument('seed') ?? testEnvironment().seed;
  const numRuns = argument('runs') ?? usualRuns;
  test.diagnostic(`seed ${seed}, ${numRuns} sequences (again: node --import tsx <this file> --seed=${seed})`);
  return { seed, numRuns };
}

function argument(name: string): number | undefined {
  const prefix = `--${name}=`;
  // `npm run … -- --runs=…` comes after the script's own.
  const given = process.argv.findLast((text) => text.startsWith(prefix));
  return given === undefined ? undefined : Number(given.slice(prefix.length));
}
