import { describeError } from '../../../../runtime/described-error.ts';
import { queryErrorCode, readClientError } from './session-end.ts';

/** The fields of a log line about a defect. */
export interface DefectFields {
  /** The class of the error. */
  readonly error: string;
  /** The error's message. Empty if it may contain a value. */
  readonly cause: string;
  /** The network's code for a refused request, or else the client's own, or the system's. Absent if there is none. */
  readonly code?: number | string;
  /** Absent if the thread keeps no stacks, as session workers do unless `NODE_OPTIONS` has `--stack-trace-limit`. */
  readonly stack?: string;
}

/** Returns the fields of a log line about an error. They contain no text of a message, number or key. */
export function describeDefect(error: unknown): DefectFields {
  const { type, message = '', code: ownCode, stack } = describeError(error);
  const code = queryErrorCode(error) ?? readClientError(error).statusCode ?? ownCode;
  return {
    error: type,
    cause: message,
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
  };
}
