/** Fields of the log for errors whose messages nobody here wrote. Nobody knows which values they contain. */
import { errorFrames, systemCode } from '../../../../runtime/error-frames.ts';
import { EgressFailure } from '../../../outbound/egress-failure.ts';
import { DownloadRefused } from '../../../outbound/network-file.ts';
import { queryErrorCode, readClientError } from './session-end.ts';

/**
 * The messages that are logged. They name only what the code has: V8's for a missing value or function. A name of the
 * code begins with a small letter and has no digits.
 */
const KNOWN_CAUSES = [
  /^Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '[a-z_$][A-Za-z_$]{0,29}'\)$/,
  /^[a-z_$][A-Za-z_$.]{0,59} is not (?:a function|defined)$/,
];

/** The fields of a log line about a defect. */
export interface DefectFields {
  readonly error: string;
  /** Empty if the message may contain a value. */
  readonly cause: string;
  /** The network's code for a refused request, or else the client's own, or the system's. Absent if there is none. */
  readonly code?: number | string;
  /** Absent if the thread keeps no stacks, as session workers do unless `NODE_OPTIONS` has `--stack-trace-limit`. */
  readonly stack?: string;
}

/**
 * Returns the fields of a log line about an error: its name, its message, its code and the frames of its stack. They
 * contain no text of a message, number or key. So a message is logged only if it is one of `KNOWN_CAUSES`, or our own.
 */
export function describeDefect(error: unknown): DefectFields {
  if (!(error instanceof Error)) return { error: typeof error, cause: '' };
  const { name, message } = error;
  const isOwn = error instanceof DownloadRefused || error instanceof EgressFailure;
  const isKnown = isOwn || KNOWN_CAUSES.some((pattern) => pattern.test(message));
  const code = queryErrorCode(error) ?? readClientError(error).statusCode ?? systemCode(error);
  const frames = errorFrames(error);
  return {
    error: name,
    cause: isKnown ? message : '',
    ...(code === undefined ? {} : { code }),
    ...(frames === '' ? {} : { stack: frames }),
  };
}
