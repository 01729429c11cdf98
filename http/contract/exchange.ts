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
  /** Read only if a reply may stay open: the cursor after which a reader of events continues. */
  readonly lastEventId: string;
  /** Read there alone as well: true for a caller that takes server-sent events. */
  readonly takesEvents: boolean;
}

/** A problem with a body before it is parsed. `crowded`: too many other bodies are being read at the same time. */
export type BodyFault = 'too_large' | 'not_utf8' | 'length_repeated' | 'crowded';

/** One HTTP request as a value, free of sockets. It is made from the head; its body comes later. */
export interface RequestValue {
  /** Upper case. */
  readonly method: string;
  /** The path as sent, still percent-encoded. */
  readonly path: string;
  /** The part after the question mark, as sent. */
  readonly query: string;
  readonly headers: RequestHeaders;
  /** The listener sets this and `bodyFault` when the body has come. Until then, and if it is not read, it is empty. */
  body: string;
  bodyFault: BodyFault | undefined;
  /** The caller's address, trusted proxies already looked through. */
  readonly ip: string;
  /** Absent if no caller waits on a socket. */
  readonly connection?: CallerConnection | undefined;
}

/**
 * Headers of a reply in addition to its content type, in wire form: `\r\nName: value` each. They are one text, because
 * each header that is passed to the server separately takes a call into native code. Values come from us or were
 * checked: they contain no line breaks.
 */
export type HeaderLines = string;

/** Writes headers as they travel. */
export function headerLines(headers: { readonly [name: string]: string }): HeaderLines {
  return Object.entries(headers)
    .map(([name, value]) => `\r\n${name}: ${value}`)
    .join('');
}

/** The destination of a streamed reply. */
export interface ReplyStream {
  /** Returns false if the reader lags; later bytes are then buffered. */
  write(piece: string | Uint8Array): boolean;
  /** Resolves when a reader that lagged takes more, or is gone. */
  drained(): Promise<void>;
  end(): void;
  /** Drops the connection, and the bytes that the reader has not taken. */
  drop(): void;
  /** Bytes the reader has not taken yet. */
  bufferedBytes(): number;
  /** Called once, when the connection is gone or the stream was ended. */
  onClose(callback: () => void): void;
}

/** A call that waits for a better reply than the present one, with all data that is kept of it meanwhile. */
export interface WaitingCall {
  readonly wait: CallWait;
  /** Answers the call again after its wait has ended. */
  goOn(): MaybePromise<ReplyValue>;
}

/** One HTTP reply as a value. A reply with `stream` stays open and is written piece by piece. */
export interface ReplyValue {
  readonly status: number;
  readonly contentType: string;
  readonly headers: HeaderLines;
  readonly body: string | Uint8Array;
  readonly stream?: ((stream: ReplyStream) => void) | undefined;
  /** Set if the call waits: the other fields are then not sent. */
  readonly waiting?: WaitingCall | undefined;
  /** True when the connection cannot be used further. */
  readonly close?: boolean | undefined;
}
