import { isReadMethod } from '../pipeline/edge.ts';

/** The server library's view of a request, valid until its callback ends. Each access is a native call. */
export interface RawHead {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  /** Returns the first line of a header, by its name in lower case, or an empty text if there is none. */
  getHeader(name: string | Uint8Array): string;
  forEach(visit: (name: string, value: string) => void): void;
}

/** A header's name, in lower case. */
interface HeaderName {
  readonly text: string;
  /** A lookup by bytes takes half the time, because the library encodes a text each time. */
  readonly bytes: Uint8Array;
}

const CONTENT_LENGTH = headerName('content-length');
const AUTHORIZATION = headerName('authorization');
const REQUEST_ID = headerName('x-request-id');
const TRACEPARENT = headerName('traceparent');

function headerName(text: string): HeaderName {
  return { text, bytes: new TextEncoder().encode(text) };
}

/** The headers that are read. A missing one is undefined or empty. */
export interface FoundHeaders {
  contentLength?: string | undefined;
  /** Number of lines with a content length. */
  lengths: number;
  transferEncoding?: string | undefined;
  authorization?: string | undefined;
  apiKey?: string | undefined;
  contentType?: string | undefined;
  requestId?: string | undefined;
  /**
   * If there are several lines of this or of `idempotencyKey`, they are joined with line breaks, which no valid value
   * contains.
   */
  traceparent?: string | undefined;
  idempotencyKey?: string | undefined;
  /**
   * All lines as one list (RFC 9110, 5.2), because a proxy may add a line after the caller's. Not read if no proxy is
   * trusted.
   */
  forwardedFor?: string | undefined;
}

/**
 * Reads the headers of a request. `isProxied`: X-Forwarded-For is needed. A second length after an empty one matters
 * only behind a proxy, and there all headers are read.
 */
export function findHeaders(rawHead: RawHead, method: string, isProxied: boolean): FoundHeaders {
  const isByName = isReadMethod(method) && !isProxied && rawHead.getHeader(CONTENT_LENGTH.bytes) === '';
  return isByName ? headersByName(rawHead) : allHeaders(rawHead);
}

/**
 * Reads the headers of a call without a body, each by its name. Each lookup is a call into native code, and such a call
 * needs few headers.
 */
function headersByName(rawHead: RawHead): FoundHeaders {
  const authorization = rawHead.getHeader(AUTHORIZATION.bytes);
  return {
    lengths: 0,
    authorization,
    apiKey: authorization.startsWith('Bearer ') ? undefined : rawHead.getHeader('x-api-key'),
    requestId: rawHead.getHeader(REQUEST_ID.bytes),
    traceparent: singleHeader(rawHead, TRACEPARENT),
  };
}

/**
 * Reads the headers of a call that may have a body or may have come through a proxy. All lines are read, because a
 * header may have a second line although its first one is empty.
 */
function allHeaders(rawHead: RawHead): FoundHeaders {
  const foundHeaders: FoundHeaders = {
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
  rawHead.forEach((name, value) => {
    switch (name) {
      case 'content-length':
        foundHeaders.lengths += 1;
        foundHeaders.contentLength ??= value;
        break;
      case 'transfer-encoding':
        foundHeaders.transferEncoding ??= value;
        break;
      case 'authorization':
        foundHeaders.authorization ??= value;
        break;
      case 'x-api-key':
        foundHeaders.apiKey ??= value;
        break;
      case 'content-type':
        foundHeaders.contentType ??= value;
        break;
      case 'x-request-id':
        foundHeaders.requestId ??= value;
        break;
      case 'traceparent':
        foundHeaders.traceparent =
          foundHeaders.traceparent === undefined ? value : `${foundHeaders.traceparent}\n${value}`;
        break;
      case 'x-forwarded-for':
        foundHeaders.forwardedFor =
          foundHeaders.forwardedFor === undefined ? value : `${foundHeaders.forwardedFor},${value}`;
        break;
      case 'idempotency-key':
        foundHeaders.idempotencyKey =
          foundHeaders.idempotencyKey === undefined ? value : `${foundHeaders.idempotencyKey}\n${value}`;
        break;
    }
  });
  return foundHeaders;
}

/** Returns all lines of a header, in order. `getHeader` returns only the first one. */
export function linesOf(rawHead: RawHead, header: string): string[] {
  const lines: string[] = [];
  rawHead.forEach((name, value) => {
    if (name === header) lines.push(value);
  });
  return lines;
}

/** Reads a header that may occur once. Several lines are joined with line breaks, which no valid value contains. */
function singleHeader(rawHead: RawHead, { text, bytes }: HeaderName): string {
  return rawHead.getHeader(bytes) === '' ? '' : linesOf(rawHead, text).join('\n');
}
