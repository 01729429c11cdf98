import type { Metrics } from './metrics.ts';

/** The parts of the listeners whose figures are read when `/metrics` is asked. */
interface ListenerFigures {
  /** Returns the number of requests in progress at both listeners. */
  inProgress(): number;
  readonly bodies: { readonly bytes: number };
  readonly eventReaders: { readonly count: number; readonly unreadBytes: number };
  readonly requestLog: { readonly dropped: number };
}

/** Registers the gauges and counters of the listeners. */
export function exportListeners(
  metrics: Metrics,
  { inProgress, bodies, eventReaders, requestLog }: ListenerFigures,
): void {
  metrics.gauge(
    'msgapi_http_requests_in_hand',
    'Requests in progress, without those that only wait for events',
    inProgress,
  );
  metrics.gauge(
    'msgapi_http_body_bytes_in_reading',
    'Memory kept for request bodies that have not arrived as a whole',
    () => bodies.bytes,
  );
  metrics.gauge(
    'msgapi_http_event_streams',
    "Streams of tenants' events that are open at this node",
    () => eventReaders.count,
  );
  metrics.gauge(
    'msgapi_http_event_stream_unread_bytes',
    "Bytes that were written to streams of tenants' events and that their readers have not taken",
    () => eventReaders.unreadBytes,
  );
  metrics.counter(
    'msgapi_request_log_dropped_total',
    'Request log entries dropped because Redis was away for too long',
    () => requestLog.dropped,
  );
}
