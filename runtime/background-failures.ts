import { errorFields } from './error-frames.ts';
import type { Logger } from './logger.ts';
import { RuntimeFailure } from './runtime-failure.ts';

/**
 * Logs the error of work that no caller waits for and that is tried again. A failure of the runtime passes by itself,
 * so its line is at `debug`. Any other error is a defect, and its line is at `error`. The message of a defect is left
 * out, because it may contain stored text.
 */
export function logBackgroundFailure(log: Logger, error: unknown, fields: object, line: string): void {
  if (error instanceof RuntimeFailure) log.debug({ ...fields, err: error }, line);
  else log.error({ ...fields, ...errorFields(error) }, line);
}
