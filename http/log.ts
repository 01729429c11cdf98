import { type DestinationStream, destination, pino } from 'pino';
import type { Logger } from '../runtime/logger.ts';

/** Fields that never reach a log, wherever a caller puts them. */
const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'adminToken',
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

/** A logger that can be written out before the process ends. */
export interface ServiceLogger extends Logger {
  /** Writes out, at once, what is buffered. */
  flush(): void;
}

/** Pino on standard error (or `stream`; standard output says only where the service is), one line of JSON an entry, secrets and texts redacted. */
export function createLogger(options: {
  readonly level: string;
  readonly stream?: DestinationStream;
}): ServiceLogger {
  const stream = options.stream ?? destination({ fd: 2, sync: false, minLength: 4096, periodicFlush: 200 });
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const logger = pino({ level: options.level, redact: { paths, censor: '[redacted]' } }, stream);
  return Object.assign(logger, {
    flush() {
      if ('flushSync' in stream && typeof stream.flushSync === 'function') stream.flushSync();
    },
  });
}
