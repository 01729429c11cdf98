/** Makes spans of what is traced. Absent where nothing is: then nobody asks what a span would need. */
export interface Tracing {
  /** Starts a span under another, or at the head of a trace of its own. Must not throw. */
  start(name: string, options: SpanOptions): Span;
}

/** Where a span stands, and what is told of it. */
export interface SpanOptions {
  /** The W3C traceparent of the span above; undefined: none. */
  readonly parent: string | undefined;
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** Milliseconds since the Unix epoch; default: now. */
  readonly startMs?: number;
}

/** Facts about a span. Never a text, a key or a number of a person. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Work that is traced, until it has ended. */
export interface Span {
  /** What spans below it are started with. */
  readonly traceparent: string;
  /** Ends it, once. `name`: in place of the first one; `failed`: it came to an error; `endMs`: default now. */
  end(told?: {
    readonly name?: string;
    readonly attributes?: SpanAttributes;
    readonly failed?: boolean;
    readonly endMs?: number;
  }): void;
}
