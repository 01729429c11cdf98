import type { Logger } from '../../runtime/logger.ts';

/** A log that keeps the sentences of one level and up, so that a test can read what an operator would. */
export class QuietLog implements Logger {
  readonly infos: string[] = [];
  readonly warnings: string[] = [];
  readonly errors: string[] = [];

  debug(): void {
    // Nothing reads it.
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
