import { type DestinationStream, destination, pino } from 'pino';
import { describeError } from '../runtime/described-error.ts';
import type { Logger } from '../runtime/logger.ts';

/** Fields whose values never reach a log, neither at the top of a line nor in one of its objects. */
const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'adminToken',
  'operatorTokens',
  'key',
  'keyHash',
  'token',
  'text',
  'caption',
  'body',
  'query',
  'qr',
  'qrImageDataUrl',
  'credentials',
  'credentialsKey',
  'redisUrl',
];

/** A logger whose lines can be written before the process ends. */
export interface ServiceLogger extends Logger {
  /** Writes the buffered lines at once. */
  flush(): void;
}

/**
 * Creates a Pino logger that writes one line of JSON an entry to standard error or to `stream`. Secrets and texts are
 * redacted, and an error in `err` is logged by `describeError`. Standard output contains only the service's address.
 * Answered requests have a line at `debug`, except probes that succeed. Those of tenants are also in the request log.
 */
export function makeLogger(options: {
  readonly level: string;
  readonly stream?: DestinationStream;
}): ServiceLogger {
  // Writes asynchronously, because the reader of standard error may be slow. Pino writes the rest when the process
  // ends.
  const standardError = options.stream === undefined ? destination({ fd: 2, sync: false }) : undefined;
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const redact = { paths, censor: '[redacted]' };
  const logger = pino(
    { level: options.level, redact, serializers: { err: describeError } },
    standardError ?? options.stream,
  );
  return Object.assign(logger, { flush: () => standardError?.flushSync() });
}
