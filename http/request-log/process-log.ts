import { hostname } from 'node:os';
import { type DestinationStream, destination, pino } from 'pino';
import { type ArmedTimer, type Clock, systemClock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { AnsweredRequest } from './answered-request.ts';

/** Fields that never reach a log, wherever a caller puts them. */
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

/** How long a line waits for others to be written with, in milliseconds, and how many bytes do not wait. */
const GATHERED_MS = 200;
const GATHERED_BYTES = 64_000;

/** The Redis client adds the failed command with all its arguments to its errors. */
const FAILED_COMMAND = 'err.command';

/** A logger with a line of its own for answered requests. */
export interface RequestLogger extends Logger {
  /** One line per request, at level info. Its fields are known and hold no secret, so it needs no redaction. */
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
  /** Default: the process's own. */
  readonly clock?: Clock;
}): ServiceLogger {
  const stream = options.stream ?? new GatheredLines(options.clock ?? systemClock);
  const writeRequest = (line: string): void =>
    stream instanceof GatheredLines ? stream.writeAscii(line) : stream.write(line);
  const paths = [...SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), FAILED_COMMAND];
  const logger = pino({ level: options.level, redact: { paths, censor: '[redacted]' } }, stream);
  const tellsRequests = logger.isLevelEnabled('info');
  const identity = `,"pid":${process.pid},"hostname":${JSON.stringify(hostname())},"requestId":"`;
  return Object.assign(logger, {
    request(answered: AnsweredRequest, message: string) {
      if (tellsRequests) writeRequest(requestLine(answered, identity, message));
    },
    flush() {
      if (stream instanceof GatheredLines) stream.flush();
    },
  });
}

/**
 * Standard error, given the request lines of one write at once and as bytes: encoding each as UTF-8 costs more than all else
 * about it. It is written to when there are lines: the stream's own `periodicFlush` writes its
 * nothing five times a second, by way of a thread of the pool, which was two fifths of an idle process's wake-ups.
 */
class GatheredLines implements DestinationStream {
  readonly #stream = destination({
    fd: 2,
    sync: false,
    minLength: GATHERED_BYTES,
    maxWrite: 256_000,
    contentMode: 'buffer',
  });
  readonly #clock: Clock;
  #ascii = '';
  #timer: ArmedTimer | undefined;
  /** A line was given since the last write ended. */
  #given = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    // A line that came while others were written is left to the next write; whether this one did, the stream does not say.
    this.#stream.on('drain', () => {
      if (this.#given) this.#writeSoon();
      this.#given = false;
    });
    // What the stream was given it writes out by itself before the process ends, also where that crashes.
    process.prependListener('beforeExit', () => this.#pass());
    process.prependListener('exit', () => this.#pass());
  }

  write(line: string): void {
    this.#pass();
    this.#give(Buffer.from(line));
  }

  /** Takes a line that is known to hold ASCII alone. */
  writeAscii(line: string): void {
    this.#ascii += line;
    if (this.#ascii.length >= GATHERED_BYTES) this.#pass();
    else this.#writeSoon();
  }

  /** Writes out, at once, what is buffered. */
  flush(): void {
    this.#pass();
    this.#stream.flushSync();
  }

  #pass(): void {
    if (this.#ascii !== '') this.#give(Buffer.from(this.#ascii, 'latin1'));
    this.#ascii = '';
  }

  /** In this mode the stream takes bytes; its types say text alone. */
  #give(bytes: Buffer): void {
    this.#stream.write(bytes as unknown as string);
    this.#given = true;
    this.#writeSoon();
  }

  #writeSoon(): void {
    this.#timer ??= this.#clock.after(GATHERED_MS, () => {
      this.#pass();
      this.#timer = undefined;
      this.#stream.flush();
    });
  }
}

/** As pino would write it; a template, since pino and its redaction cost more than all else a request does. */
function requestLine(answered: AnsweredRequest, identity: string, message: string): string {
  const { atMs, requestId, words, latencyMs, ip, traceparent } = answered;
  const trace = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`;
  return lineStart(atMs, identity) + requestId + words.line + latencyMs + trace + lineEnd(ip, message);
}

/** The start of the line written last: many share a moment. */
let lastStart = { atMs: Number.NaN, identity: '', text: '' };

function lineStart(atMs: number, identity: string): string {
  if (atMs !== lastStart.atMs || identity !== lastStart.identity) {
    lastStart = { atMs, identity, text: ['{"level":30,"time":', atMs, identity].join('') };
  }
  return lastStart.text;
}

/** The end of the line written last: behind a proxy all callers have one address. */
let lastEnd = { ip: '', message: '', text: '' };

function lineEnd(ip: string, message: string): string {
  if (ip !== lastEnd.ip || message !== lastEnd.message) {
    lastEnd = { ip, message, text: [',"ip":"', ip, '","msg":"', message, '"}\n'].join('') };
  }
  return lastEnd.text;
}
