import * as v from 'valibot';
import { readVariables, type Variables } from '../../service/environment.ts';
import { wholeNumber } from '../../service/setting-readers.ts';

const testSchema = v.object({
  TEST_SEED: v.optional(
    v.pipe(v.string(), v.regex(/^-?\d{1,10}$/, 'a whole number'), v.transform(Number)),
    '1',
  ),
  TEST_RUNS: v.optional(wholeNumber({ most: 1_000_000_000 })),
});

/**
 * Reads how property tests and random kills are repeated (their seed, and how many runs).
 * Without a seed it is 1, so that the gate runs the same cases each time.
 * Throws `EnvironmentError`.
 */
export function testEnvironment(variables?: Variables) {
  const values = readVariables(testSchema, variables);
  return { seed: values.TEST_SEED, runs: values.TEST_RUNS } as const;
}

const containersSchema = v.object({
  SERVICE_IMAGE: v.optional(v.string(), 'tenant-messaging-api'),
  REDIS_IMAGE: v.optional(v.string(), 'redis:7'),
});

/**
 * Reads which images the tests on a Docker engine start: the service's own, and a Redis. Throws
 * `EnvironmentError`.
 */
export function containersEnvironment(variables?: Variables) {
  const values = readVariables(containersSchema, variables);
  return { serviceImage: values.SERVICE_IMAGE, redisImage: values.REDIS_IMAGE } as const;
}
