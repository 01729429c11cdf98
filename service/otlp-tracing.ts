import type { Span as OtelSpan } from '@opentelemetry/api';
import type { Random } from '../runtime/random.ts';
import type { Tracing } from '../runtime/tracing.ts';

/** Tracing that sends its spans until it is stopped. */
export interface RunningTracing extends Tracing {
  /** Sends the remaining spans, for at most `STOP_MS`. Never rejects. */
  stop(): Promise<void>;
}

/** Between two batches of spans; a tenth of the SDK's own, so that a trace can be read while it is wanted. */
const BATCH_MS = 500;
/** How long a stop waits for a collector that does not answer. */
const STOP_MS = 1_000;

/**
 * Tracing through OpenTelemetry's own SDK to a collector, as OTLP over HTTP. The SDK is loaded here and nowhere else,
 * so that without a collector it costs neither time nor memory. The SDK also reads its own variables
 * (`OTEL_TRACES_SAMPLER`, `OTEL_EXPORTER_OTLP_HEADERS`).
 */
export async function otlpTracing(options: {
  /** Base address of the collector; traces go to `/v1/traces` below it. */
  readonly endpoint: string;
  readonly serviceName: string;
  readonly version: string;
  readonly nodeId: string;
  /** The share of traces to keep, from 0 to 1. Bounds what a caller can ask for with its `traceparent`. */
  readonly keptShare: number;
  readonly random: Random;
}): Promise<RunningTracing> {
  const [
    { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace },
    { BasicTracerProvider, BatchSpanProcessor },
    { OTLPTraceExporter },
    { resourceFromAttributes },
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${options.endpoint}/v1/traces` });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': options.serviceName,
      'service.version': options.version,
      'service.instance.id': options.nodeId,
    }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: BATCH_MS })],
  });
  const tracer = provider.getTracer('tenant-messaging-api', options.version);
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

  /**
   * Returns the context of a traceparent; its flags decide whether the trace is kept. A caller may ask for less than
   * the share to keep, never for more: otherwise it could fill the collector.
   */
  function contextOf(traceparent: string | undefined, isFromCaller: boolean) {
    if (traceparent === undefined) return ROOT_CONTEXT;
    const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
    const isUntraced = isFromCaller && options.random() >= options.keptShare;
    const traceFlags = isUntraced ? TraceFlags.NONE : Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
    return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
  }

  return {
    start(name, { parent, kind, attributes, startMs }) {
      const startTime = startMs === undefined ? {} : { startTime: startMs };
      const givenAttributes = attributes === undefined ? {} : { attributes };
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], ...givenAttributes, ...startTime },
        contextOf(parent, kind === 'server'),
      );
      return {
        traceparent: traceparentOf(span),
        end({ name: knownName, attributes: moreAttributes, hasFailed, endMs } = {}) {
          if (knownName !== undefined) span.updateName(knownName);
          if (moreAttributes !== undefined) span.setAttributes(moreAttributes);
          if (hasFailed === true) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end(endMs);
        },
      };
    },
    async stop() {
      // Spans that a collector does not take are lost: a trace must not delay the end of the process.
      const shutdown = provider.shutdown().catch(() => undefined);
      await Promise.race([shutdown, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}

function traceparentOf(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
}
