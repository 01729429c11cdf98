import type { Logger } from '../../runtime/logger.ts';
import { deferred } from '../testbed/deferred.ts';

/** A line of the log. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A log that keeps all lines with their levels and fields. */
export class LineLog implements Logger {
  readonly lines: LogLine[] = [];
  readonly #first = deferred<LogLine>();

  /** Resolves with the first line, once it is written. */
  get first(): Promise<LogLine> {
    return this.#first.promise;
  }

  debug(fields: object, message: string): void {
    this.#keep({ level: 'debug', fields, message });
  }

  info(fields: object, message: string): void {
    this.#keep({ level: 'info', fields, message });
  }

  warn(fields: object, message: string): void {
    this.#keep({ level: 'warn', fields, message });
  }

  error(fields: object, message: string): void {
    this.#keep({ level: 'error', fields, message });
  }

  #keep(line: LogLine): void {
    this.lines.push(line);
    this.#first.resolve(line);
  }
}

/** Returns a line with the fields that do not differ from one run to another: without a stack and an error's object. */
export function comparable({ level, fields, message }: LogLine): unknown {
  const { stack: _, err: __, ...others } = fields as { readonly stack?: unknown; readonly err?: unknown };
  return { level, ...others, message };
}
