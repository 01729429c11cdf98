import { type DescribedError, describeError } from '../../runtime/described-error.ts';
import type { Logger } from '../../runtime/logger.ts';
import { deferred } from './deferred.ts';

/** A line of the log. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

/** A log that keeps all lines with their levels and fields. An error is kept as the service logs it. */
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

  #keep({ level, fields, message }: LogLine): void {
    const line = {
      level,
      fields: 'err' in fields ? { ...fields, err: describeError(fields.err) } : fields,
      message,
    };
    this.lines.push(line);
    this.#first.resolve(line);
  }
}

/** Returns a line with the fields that do not differ from one run to another: of an error, its class. */
export function comparable({ level, fields, message }: LogLine): unknown {
  const { err, ...others } = fields as { readonly err?: DescribedError };
  return { level, ...others, ...(err === undefined ? {} : { error: err.type }), message };
}
