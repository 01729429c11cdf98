import type { CallerConnection } from '../contract/caller-connection.ts';
import type { BodyFault, RequestValue } from '../contract/exchange.ts';
import { isReadMethod } from '../pipeline/edge.ts';
import { findHeaders, linesOf, type RawHead } from './found-headers.ts';
import { MOST_BODY_BYTES } from './kept-body.ts';

export interface HeadOptions {
  /**
   * Finds the caller behind trusted proxies. If it is undefined, no proxy is trusted and X-Forwarded-For is not read.
   */
  readonly callerAddress: ((peer: string, forwardedFor: string) => string) | undefined;
  /** The path of event streams. Only there are the headers Last-Event-ID and Accept read. */
  readonly eventsPath: string | undefined;
}

/** A request made from its head. */
export interface Head {
  readonly request: RequestValue;
  readonly hasBody: boolean;
}

/**
 * All other methods become `OTHER`, because a caller's own text must not become a label of metrics and logs. Each text
 * exists once, so that waiting calls share it.
 */
const KNOWN_METHODS = new Map(
  ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'].map((method) => [method, method]),
);

/**
 * Reads a head. `address` is that of the peer. The raw head is valid only until the first await, so all of it is read
 * here.
 */
export function readHead(
  rawHead: RawHead,
  connection: CallerConnection,
  address: string,
  { callerAddress, eventsPath }: HeadOptions,
): Head {
  const method = rawHead.getCaseSensitiveMethod();
  const headers = findHeaders(rawHead, method, callerAddress !== undefined);
  const { contentLength = '', transferEncoding = '', authorization = '', apiKey = '' } = headers;
  const { contentType = '', requestId = '', traceparent = '', idempotencyKey = '' } = headers;
  // uWebSockets takes the first of several lengths, and ignores an empty one. Either lets a request be smuggled past a
  // proxy.
  const isLengthRepeated = headers.lengths > (contentLength === '' ? 0 : 1);
  const isChunked = !isReadMethod(method) && transferEncoding !== '';
  const hasBody = !isLengthRepeated && (contentLength !== '' || isChunked);
  const path = rawHead.getUrl();
  const mayStream = path === eventsPath;
  return {
    request: {
      method: KNOWN_METHODS.get(method) ?? 'OTHER',
      path: mayStream ? eventsPath : path,
      query: rawHead.getQuery() ?? '',
      headers: {
        authorization,
        apiKey: authorization.startsWith('Bearer ') ? '' : apiKey,
        contentType: hasBody ? contentType : '',
        requestId,
        traceparent,
        idempotencyKey: method === 'POST' ? idempotencyKey : '',
        lastEventId: mayStream ? rawHead.getHeader('last-event-id') : '',
        takesEvents: mayStream && asksForEvents(linesOf(rawHead, 'accept').join()),
      },
      ip: callerAddress === undefined ? address : callerAddress(address, headers.forwardedFor ?? ''),
      body: '',
      bodyFault: lengthFault(contentLength, isLengthRepeated),
      connection,
    },
    hasBody,
  };
}

/**
 * True if a list of media types names server-sent events, and gives JSON no larger weight (RFC 9110, 12.5.1). A
 * wildcard names JSON but no events.
 */
function asksForEvents(accept: string): boolean {
  const weights = new Map(accept.toLowerCase().split(',').map(weighRange));
  const events = weights.get('text/event-stream') ?? 0;
  const json = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  return events > 0 && events >= json;
}

/** A weight (RFC 9110, 12.4.2). */
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Reads a media type and its weight. A weight of another form counts as none given. */
function weighRange(range: string): [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '';
  return [type, WEIGHT.test(weight) ? Number(weight) : 1];
}

function lengthFault(declaredLength: string, isRepeated: boolean): BodyFault | undefined {
  if (isRepeated) return 'length_repeated';
  return Number(declaredLength) > MOST_BODY_BYTES ? 'too_large' : undefined;
}
