import { hostname } from 'node:os';
import { type DestinationStream, destination, pino } from 'pino';
import type { Logger } from '../runtime/logger.ts';
import type { RequestLogEntry } from './request-log-entry.ts';

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

/** A logger with a line of its own for answered requests. */
export interface RequestLogger extends Logger {
  /** One line a request, at level info. Its fields are known and hold no secret, so it needs no redaction. */
  request(entry: RequestLogEntry, atMs: number, message: string): void;
}

/** A logger that can be written out before the process ends. */
export interface ServiceLogger extends RequestLogger {
  /** Writes out, at once, what is buffered. */
  flush(): void;
}

/** Pino on standard error (or `stream`; standard output says only where the service is), one line of JSON an entry, secrets and texts redacted. */
export function createLogger(options: {
  readonly level: string;
  readonly stream?: DestinationStream;
}): ServiceLogger {
  const stream = options.stream ?? destination({ fd: 2, sync: false, minLength: 16_000, periodicFlush: 200 });
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const logger = pino({ level: options.level, redact: { paths, censor: '[redacted]' } }, stream);
  const tellsRequests = logger.isLevelEnabled('info');
  const identity = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
  return Object.assign(logger, {
    request(entry: RequestLogEntry, atMs: number, message: string) {
      if (tellsRequests) stream.write(requestLine(entry, `"time":${atMs},${identity}`, message));
    },
    flush() {
      if ('flushSync' in stream && typeof stream.flushSync === 'function') stream.flushSync();
    },
  });
}

/** As pino would write it; a template, since pino and its redaction cost more than all else a request does. */
function requestLine(entry: RequestLogEntry, origin: string, message: string): string {
  const { requestId, tenantId, keyId, method, route, status, latencyMs, ip } = entry;
  const caller = tenantId === null ? '' : `"tenantId":"${tenantId}",`;
  const key = keyId === null ? '' : `"keyId":"${keyId}",`;
  const what = `"method":"${method}","route":"${route}","status":${status}`;
  return `{"level":30,${origin},"requestId":"${requestId}",${caller}${key}${what},"latencyMs":${latencyMs},"ip":"${ip}","msg":"${message}"}\n`;
}
