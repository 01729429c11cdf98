import type { CallerConnection } from '../contract/caller-connection.ts';
import type { BodyFault, RequestValue } from '../contract/exchange.ts';
import { isRead } from '../pipeline/edge.ts';
import { MAX_BODY_BYTES } from './kept-body.ts';

/** The server library's view of a request, valid until its callback ends. Each access is a native call. */
export interface RawHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  /** Returns the first line of a header, by its name in lower case, or an empty text if there is none. */
  getHeader(name: string | Uint8Array): string;
  forEach(each: (name: string, value: string) => void): void;
}

/** Options for reading the head of a request. */
export interface HeadOptions {
  /**
   * Finds the caller behind trusted proxies. If it is undefined, no proxy is trusted and X-Forwarded-For is not read.
   */
  readonly callerAddress: ((peer: string, forwardedFor: string) => string) | undefined;
  /** The path of event streams: there alone is Last-Event-ID read and whether the caller takes a stream. */
  readonly eventsPath: string | undefined;
}

/** The head of a request, read. */
export interface Head {
  readonly request: RequestValue;
  /** A body follows. */
  readonly hasBody: boolean;
}

/**
 * Other methods are never distinguished, and a caller's own text must not become a label of metrics and logs. Each text
 * exists once, so that waiting calls share it.
 */
const KNOWN_METHODS = new Map(
  ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'].map((method) => [method, method]),
);

/** A header's name, in lower case. */
interface HeaderName {
  readonly text: string;
  /** A name given as bytes takes the server library half the time of a text, which it encodes for each lookup. */
  readonly bytes: Uint8Array;
}

const CONTENT_LENGTH = headerName('content-length');
const AUTHORIZATION = headerName('authorization');
const REQUEST_ID = headerName('x-request-id');
const TRACEPARENT = headerName('traceparent');

function headerName(text: string): HeaderName {
  return { text, bytes: new TextEncoder().encode(text) };
}

/** Reads a head; `address`: of the peer. The raw one is gone after the first await, so everything is read here. */
export function readHead(
  raw: RawHead,
  connection: CallerConnection,
  address: string,
  { callerAddress, eventsPath }: HeadOptions,
): Head {
  const method = raw.getCaseSensitiveMethod();
  // Behind a proxy all lines are walked in any case, for the addresses, so an empty length before another one is seen there.
  const isAsked = isRead(method) && callerAddress === undefined && raw.getHeader(CONTENT_LENGTH.bytes) === '';
  const found = isAsked ? askedFor(raw) : walked(raw);
  const { contentLength = '', transferEncoding = '', authorization = '', apiKey = '' } = found;
  const { contentType = '', requestId = '', traceparent = '', idempotencyKey = '' } = found;
  // uWebSockets takes the first of several, and an empty one for none; both are how requests are smuggled past a proxy.
  const lengthRepeated = found.lengths > (contentLength === '' ? 0 : 1);
  const isChunked = !isRead(method) && transferEncoding !== '';
  const hasBody = !lengthRepeated && (contentLength !== '' || isChunked);
  const path = raw.getUrl();
  const mayStream = path === eventsPath;
  return {
    request: {
      method: KNOWN_METHODS.get(method) ?? 'OTHER',
      path: mayStream ? eventsPath : path,
      query: raw.getQuery() ?? '',
      headers: {
        authorization,
        apiKey: authorization.startsWith('Bearer ') ? '' : apiKey,
        contentType: hasBody ? contentType : '',
        requestId,
        traceparent,
        idempotencyKey: method === 'POST' ? idempotencyKey : '',
        lastEventId: mayStream ? raw.getHeader('last-event-id') : '',
        takesEvents: mayStream && asksForEvents(raw.getHeader('accept')),
      },
      ip: callerAddress === undefined ? address : callerAddress(address, found.forwardedFor ?? ''),
      body: '',
      bodyFault: lengthFault(contentLength, lengthRepeated),
      connection,
    },
    hasBody,
  };
}

/** The headers that are read for every call, each of which may occur once. Undefined if missing. */
interface FoundHeaders {
  contentLength: string | undefined;
  /** Number of lines of this header. */
  lengths: number;
  transferEncoding: string | undefined;
  authorization: string | undefined;
  apiKey: string | undefined;
  contentType: string | undefined;
  requestId: string | undefined;
  /**
   * If there are several lines of this or of `idempotencyKey`, they are joined with line breaks, which no valid value
   * contains.
   */
  traceparent: string | undefined;
  idempotencyKey: string | undefined;
  /**
   * All lines as one list (RFC 9110, 5.2): a proxy may add its own line after the caller's. Not read if no proxy is
   * trusted.
   */
  forwardedFor: string | undefined;
}

/**
 * Reads the headers of a call without a body by name. Each header costs a call into native code, and such a call needs
 * few.
 */
function askedFor(raw: RawHead): FoundHeaders {
  const authorization = raw.getHeader(AUTHORIZATION.bytes);
  return {
    contentLength: undefined,
    lengths: 0,
    transferEncoding: undefined,
    authorization,
    apiKey: authorization.startsWith('Bearer ') ? undefined : raw.getHeader('x-api-key'),
    contentType: undefined,
    requestId: raw.getHeader(REQUEST_ID.bytes),
    traceparent: singleHeader(raw, TRACEPARENT),
    idempotencyKey: undefined,
    forwardedFor: undefined,
  };
}
/** True if a list of media types (RFC 9110, 12.5.1) names server-sent events. A wildcard is not enough. */
function asksForEvents(accept: string): boolean {
  return accept.split(',').some((type) => /^\s*text\/event-stream\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(type));
}

function lengthFault(declared: string, isRepeated: boolean): BodyFault | undefined {
  if (isRepeated) return 'length_repeated';
  return Number(declared) > MAX_BODY_BYTES ? 'too_large' : undefined;
}

/**
 * Reads the headers of a call that may have a body. Some headers may have a second line although the first is empty, so
 * it walks all of them. Each takes a call out of native code, and a lookup by name would take another.
 */
function walked(raw: RawHead): FoundHeaders {
  const found: FoundHeaders = {
    contentLength: undefined,
    lengths: 0,
    transferEncoding: undefined,
    authorization: undefined,
    apiKey: undefined,
    contentType: undefined,
    requestId: undefined,
    traceparent: undefined,
    idempotencyKey: undefined,
    forwardedFor: undefined,
  };
  raw.forEach((name, value) => {
    switch (name) {
      case 'content-length':
        found.lengths += 1;
        found.contentLength ??= value;
        break;
      case 'transfer-encoding':
        found.transferEncoding ??= value;
        break;
      case 'authorization':
        found.authorization ??= value;
        break;
      case 'x-api-key':
        found.apiKey ??= value;
        break;
      case 'content-type':
        found.contentType ??= value;
        break;
      case 'x-request-id':
        found.requestId ??= value;
        break;
      case 'traceparent':
        found.traceparent = found.traceparent === undefined ? value : `${found.traceparent}\n${value}`;
        break;
      case 'x-forwarded-for':
        found.forwardedFor = found.forwardedFor === undefined ? value : `${found.forwardedFor},${value}`;
        break;
      case 'idempotency-key':
        found.idempotencyKey =
          found.idempotencyKey === undefined ? value : `${found.idempotencyKey}\n${value}`;
        break;
    }
  });
  return found;
}

/** All lines of a header, in order; getHeader gives the first alone. */
function linesOf(raw: RawHead, header: string): string[] {
  const lines: string[] = [];
  raw.forEach((name, value) => {
    if (name === header) lines.push(value);
  });
  return lines;
}

/** Reads a header that may occur once. Several lines are joined with line breaks, which no valid value contains. */
function singleHeader(raw: RawHead, { text, bytes }: HeaderName): string {
  return raw.getHeader(bytes) === '' ? '' : linesOf(raw, text).join('\n');
}
