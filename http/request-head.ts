import type { CallerConnection } from './contract/caller-connection.ts';
import type { BodyFault, RequestValue } from './contract/exchange.ts';
import { isRead } from './pipeline/front.ts';
import { MAX_BODY_BYTES } from './pipeline/kept-body.ts';

/** What the server library tells of a request, until its callback ends: each question is a native call. */
export interface RawHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  /** The first line of a header, whose name is in lower case; empty where there is none. */
  getHeader(name: string | Uint8Array): string;
  forEach(each: (name: string, value: string) => void): void;
}

/** A request whose body is yet to come. */
export type OpenRequest = { -readonly [Part in keyof RequestValue]: RequestValue[Part] };

/** How the head of a request is read. */
export interface HeadOptions {
  /** The caller behind trusted proxies; undefined where none is trusted and nobody's X-Forwarded-For is read. */
  readonly callerAddress: ((peer: string, forwardedFor: string) => string) | undefined;
  /** The path of event streams: there alone is Last-Event-ID read and whether the caller takes a stream. */
  readonly eventsPath: string | undefined;
}

/** The other end of the connection that a request came on. */
export interface Peer {
  readonly connection: CallerConnection;
  readonly address: string;
}

/** The head of a request, read. */
export interface Head {
  /** Without its body, unless it is known not to be read. */
  readonly request: OpenRequest;
  /** A body follows. */
  readonly hasBody: boolean;
}

/**
 * Others are told apart from these by nobody, and a caller's own words must not become labels of metrics and logs. Each by itself, so
 * that calls which wait share the text.
 */
const KNOWN_METHODS = new Map(
  ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'].map((method) => [method, method]),
);

/** A header's name, in lower case. */
interface HeaderName {
  readonly text: string;
  /** A name given as bytes costs the server library half of one that is text, which it encodes for each look. */
  readonly bytes: Uint8Array;
}

const CONTENT_LENGTH = headerName('content-length');
const AUTHORIZATION = headerName('authorization');
const REQUEST_ID = headerName('x-request-id');
const TRACEPARENT = headerName('traceparent');

function headerName(text: string): HeaderName {
  return { text, bytes: new TextEncoder().encode(text) };
}

/** Reads a head. The raw one is gone after the first await, so everything is read here. */
export function readHead(
  raw: RawHead,
  { connection, address }: Peer,
  { callerAddress, eventsPath }: HeadOptions,
): Head {
  const method = raw.getCaseSensitiveMethod();
  const declared = raw.getHeader(CONTENT_LENGTH.bytes);
  const once = declared !== '' || !isRead(method) ? linesOfOnce(raw) : NO_LINES;
  // uWebSockets takes the first of several, and an empty one for none; both are how requests are smuggled past a proxy.
  const lengthRepeated = once.lengths > (declared === '' ? 0 : 1);
  // A body without a length is looked for where one is read alone: each header read is a native call.
  const hasBody =
    !lengthRepeated && (declared !== '' || (!isRead(method) && raw.getHeader('transfer-encoding') !== ''));
  const authorization = raw.getHeader(AUTHORIZATION.bytes);
  const path = raw.getUrl();
  const mayStream = path === eventsPath;
  return {
    request: {
      method: KNOWN_METHODS.get(method) ?? 'OTHER',
      path: mayStream ? eventsPath : path,
      query: raw.getQuery() ?? '',
      headers: {
        authorization,
        apiKey: authorization.startsWith('Bearer ') ? '' : raw.getHeader('x-api-key'),
        contentType: hasBody ? raw.getHeader('content-type') : '',
        requestId: raw.getHeader(REQUEST_ID.bytes),
        traceparent: singleHeader(raw, TRACEPARENT),
        idempotencyKey: method === 'POST' ? once.idempotencyKey : '',
        lastEventId: mayStream ? raw.getHeader('last-event-id') : '',
        takesEvents: mayStream && asksForEvents(raw.getHeader('accept')),
      },
      ip: callerAddress === undefined ? address : callerAddress(address, forwardedFor(raw)),
      body: '',
      bodyFault: lengthFault(declared, lengthRepeated),
      connection,
    },
    hasBody,
  };
}

/** Whether a list of media types (RFC 9110, 12.5.1) names server-sent events; any type at all is not enough. */
function asksForEvents(accept: string): boolean {
  return accept.split(',').some((type) => /^\s*text\/event-stream\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(type));
}

function lengthFault(declared: string, isRepeated: boolean): BodyFault | undefined {
  if (isRepeated) return 'length_repeated';
  return Number(declared) > MAX_BODY_BYTES ? 'too_large' : undefined;
}

/** Headers that may come once, where a second line is looked for though the first may be empty. */
interface LinesOfOnce {
  /** How many lines of Content-Length there are. */
  lengths: number;
  /** Of several lines the line breaks between them as well, which no value of it may hold. */
  idempotencyKey: string;
}

const NO_LINES: LinesOfOnce = { lengths: 0, idempotencyKey: '' };

/** Walks all headers, which costs a call out of native code for each; so both are looked for in one walk. */
function linesOfOnce(raw: RawHead): LinesOfOnce {
  const found = { lengths: 0, idempotencyKey: '' };
  let keys = 0;
  raw.forEach((name, value) => {
    if (name === 'content-length') {
      found.lengths += 1;
    } else if (name === 'idempotency-key') {
      found.idempotencyKey += keys === 0 ? value : `\n${value}`;
      keys += 1;
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

/** A header that may come once. Of several the lines with line breaks between them, which no value of it may hold. */
function singleHeader(raw: RawHead, { text, bytes }: HeaderName): string {
  return raw.getHeader(bytes) === '' ? '' : linesOf(raw, text).join('\n');
}

/**
 * All lines of X-Forwarded-For as one list (RFC 9110, 5.2): a proxy may add a line of its own behind the one that the
 * caller wrote. Behind a bare proxy the result is empty.
 */
function forwardedFor(raw: RawHead): string {
  return linesOf(raw, 'x-forwarded-for').join(',');
}
