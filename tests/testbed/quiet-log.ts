import type { Logger } from '../../runtime/logger.ts';

/** A log that keeps the sentences of one level and above, so that a test can read them like an operator. */
export class QuietLog implements Logger {
  readonly infos: string[] = [];
  readonly warnings: string[] = [];
  readonly errors: string[] = [];

  debug(): void {
    // No test reads this level.
  }

  info(_fields: object, message: string): void {
    this.infos.push(message);
  }

  warn(_fields: object, message: string): void {
    this.warnings.push(message);
  }

  error(_fields: object, message: string): void {
    this.errors.push(message);
  }
}
