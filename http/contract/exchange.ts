import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { CallerConnection } from './caller-connection.ts';
import type { CallWait } from './waiting.ts';

/** The headers that the service reads; an empty text if the caller sent none. */
export interface RequestHeaders {
  readonly authorization: string;
  readonly apiKey: string;
  /** Empty if there is no body. */
  readonly contentType: string;
  readonly requestId: string;
  readonly traceparent: string;
  /** Set only for a POST; empty if the header is missing. */
  readonly idempotencyKey: string;
  /** The event after which a stream continues. Read only at the path of event streams. */
  readonly lastEventId: string;
  /** True if the caller takes server-sent events. Read only at the path of event streams. */
  readonly takesEvents: boolean;
}

/** The ids by which a call is found in logs, records and traces. */
export interface CallIds {
  /** The value of the reply's `X-Request-Id`. */
  readonly requestId: string;
  /** W3C Trace Context, version 00; undefined without one. */
  readonly traceparent: string | undefined;
}

/** A problem with a body before it is parsed. `crowded`: too many other bodies are being read at the same time. */
export type BodyFault = 'too_large' | 'not_utf8' | 'length_repeated' | 'crowded';

/** One HTTP request as a value without a socket. It is made from the head, and its body is set later. */
export interface RequestValue {
  /** Upper case. */
  readonly method: string;
  /** The path as sent, still percent-encoded. */
  readonly path: string;
  /** The part after the question mark, as sent. */
  readonly query: string;
  readonly headers: RequestHeaders;
  /** The body as text. It is empty until the listener sets it, and if the body is not read. */
  body: string;
  bodyFault: BodyFault | undefined;
  /** The address of the caller. If a trusted proxy forwarded the request, it is that of the caller behind the proxy. */
  readonly ip: string;
  /** The caller's connection. Absent if the request did not come over a socket here. */
  readonly connection?: CallerConnection | undefined;
}

/**
 * Headers of a reply in addition to its content type, in wire form: `\r\nName: value` each. They are one text, because
 * each header that is passed to the server separately takes a call into native code. Values come from us or were
 * checked: they contain no line breaks.
 */
export type HeaderLines = string;

/** Writes headers in wire form. */
export function headerLines(headers: { readonly [name: string]: string }): HeaderLines {
  return Object.entries(headers)
    .map(([name, value]) => `\r\n${name}: ${value}`)
    .join('');
}

/** The destination of a streamed reply. */
export interface ReplyStream {
  /** Returns false if the reader lags, whose bytes are then buffered, or if it has disconnected. */
  write(piece: string | Uint8Array): boolean;
  /** Resolves when the reader takes more bytes, or has disconnected. */
  waitUntilDrained(): Promise<void>;
  end(): void;
  /** Closes the connection and drops the bytes that the reader has not taken. */
  drop(): void;
  /** Upper bound of the bytes that the reader has not taken yet. */
  bufferedBytes(): number;
  /** Calls back once, when the reader has disconnected or the stream has ended. */
  onClose(callback: () => void): void;
}

/** A call that waits for a better reply than the present one. It is all that is kept of the call meanwhile. */
export interface WaitingCall {
  readonly wait: CallWait;
  /** Answers the call once more, after its wait has ended. */
  goOn(): MaybePromise<ReplyValue>;
}

/** One HTTP reply as a value. A reply with `stream` stays open and is written piece by piece. */
export interface ReplyValue {
  readonly status: number;
  readonly contentType: string;
  readonly headers: HeaderLines;
  readonly body: string | Uint8Array;
  /** The code that the caller sees in the body of a refusal. Absent for a success. */
  readonly code?: string | undefined;
  readonly stream?: ((stream: ReplyStream) => void) | undefined;
  /** Set if the call waits. The other fields are not sent then. */
  readonly waiting?: WaitingCall | undefined;
  /** True if the connection must close after the reply. */
  readonly closesConnection?: boolean | undefined;
}
