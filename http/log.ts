import { hostname } from 'node:os';
import { type DestinationStream, destination, pino } from 'pino';
import type { Logger } from '../runtime/logger.ts';
import type { AnsweredRequest } from './answered-request.ts';

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
  request(answered: AnsweredRequest, message: string): void;
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
  const stream = options.stream ?? new GatheredLines();
  const paths = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]);
  const logger = pino({ level: options.level, redact: { paths, censor: '[redacted]' } }, stream);
  const tellsRequests = logger.isLevelEnabled('info');
  const identity = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
  return Object.assign(logger, {
    request(answered: AnsweredRequest, message: string) {
      if (tellsRequests) stream.write(requestLine(answered, identity, message));
    },
    flush() {
      if (stream instanceof GatheredLines) stream.flush();
    },
  });
}

/**
 * Standard error, given the lines of one turn of the event loop at once: the stream counts the bytes of each text it
 * is given, which costs a line more than all else about it.
 */
class GatheredLines implements DestinationStream {
  readonly #stream = destination({ fd: 2, sync: false, minLength: 16_000, periodicFlush: 200 });
  #lines = '';

  write(line: string): void {
    if (this.#lines === '') setImmediate(() => this.#pass());
    this.#lines += line;
  }

  /** Writes out, at once, what is buffered. */
  flush(): void {
    this.#pass();
    this.#stream.flushSync();
  }

  #pass(): void {
    if (this.#lines !== '') this.#stream.write(this.#lines);
    this.#lines = '';
  }
}

/** As pino would write it; a template, since pino and its redaction cost more than all else a request does. */
function requestLine(answered: AnsweredRequest, identity: string, message: string): string {
  const { atMs, requestId, tenantId, keyId, method, route, status, latencyMs, ip } = answered;
  const tenant = tenantId === undefined ? '' : `"tenantId":"${tenantId}",`;
  const key = keyId === undefined ? '' : `"keyId":"${keyId}",`;
  return `{"level":30,"time":${atMs},${identity},"requestId":"${requestId}",${tenant}${key}"method":"${method}","route":"${route}","status":${status},"latencyMs":${latencyMs},"ip":"${ip}","msg":"${message}"}\n`;
}
