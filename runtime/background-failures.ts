import type { Logger } from './logger.ts';
import { RuntimeFailure } from './runtime-failure.ts';

/**
 * Logs an error that no caller gets, because the work is tried again or goes on without its result. A failure of the
 * runtime is expected, so its line is at `debug`. The line of any other error is at `error`.
 */
export function logBackgroundFailure(log: Logger, error: unknown, fields: object, line: string): void {
  const level = error instanceof RuntimeFailure ? 'debug' : 'error';
  log[level]({ ...fields, err: error }, line);
}
