/** Makes spans. Absent if nothing is traced: then no code computes the parts of a span. */
export interface Tracing {
  /** Starts a span under another, or at the head of a new trace. Must not throw. */
  start(name: string, options: SpanOptions): Span;
}

export interface SpanOptions {
  /** The W3C traceparent of the parent span, or undefined if there is none. */
  readonly parent: string | undefined;
  readonly kind: 'server' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** Milliseconds since the Unix epoch. By default, now. */
  readonly startMs?: number;
}

/** Facts about a span. Never a text, a key or a number of a person. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Work that is traced, until it has ended. */
export interface Span {
  /** The parent of spans below it. */
  readonly traceparent: string;
  /** Ends it, once. `name` replaces the first name. `hasFailed`: it ended with an error. `endMs`: default now. */
  end(spanEnd?: {
    readonly name?: string;
    readonly attributes?: SpanAttributes;
    readonly hasFailed?: boolean;
    readonly endMs?: number;
  }): void;
}
