import assert from 'node:assert/strict';
import { EnvironmentError, serviceEnvironment, type Variables } from '../../service/environment.ts';

/** Thirty-two bytes, each a 7, as `CREDENTIALS_KEY` wants them. */
export const key = Buffer.alloc(32, 7).toString('base64');
/** The smallest settings of a service. */
export const least = {
  ADMIN_TOKEN: 'operators-only',
  REDIS_URL: 'redis://127.0.0.1:6379',
  CREDENTIALS_KEY: key,
};

/** Why these variables are refused; fails when they are not. */
export function refused(
  variables: Variables,
  reader: (variables: Variables) => unknown = serviceEnvironment,
): EnvironmentError {
  try {
    reader(variables);
  } catch (error) {
    assert.ok(error instanceof EnvironmentError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

/** The names of the variables that were refused, in alphabetical order. */
export function names(error: EnvironmentError): string[] {
  return error.problems.map((problem) => problem.slice(0, problem.indexOf(':'))).sort();
}
