import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import type { Span, Tracing } from '../../runtime/tracing.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { EdgeReply, EdgeResponder } from './edge.ts';

/**
 * Wraps an edge: each request is one span, waits included. The span's parent is the caller's span if the request has a
 * traceparent.
 */
export function tracedEdge(edge: EdgeResponder, tracing: Tracing | undefined): EdgeResponder {
  if (tracing === undefined) return edge;
  const waitingSpans = new WeakMap<CallWait, Span>();
  return (call, { requestId, traceparent: parent }, wait) => {
    const { method } = call.request;
    const span = (wait && waitingSpans.get(wait)) ?? tracing.start(method, { parent, kind: 'server' });
    const { traceparent } = span;
    return mapMaybePromise(edge(call, { requestId, traceparent }, wait), (edgeReply): EdgeReply => {
      if (edgeReply.wait !== undefined) {
        waitingSpans.set(edgeReply.wait, span);
        return edgeReply;
      }
      const { route, tenantId, reply } = edgeReply;
      span.end({
        name: `${method} ${route}`,
        hasFailed: reply.status >= 500,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': reply.status,
          'request.id': requestId,
          ...(tenantId === undefined ? {} : { 'tenant.id': tenantId }),
        },
      });
      return { ...edgeReply, traceparent };
    });
  };
}
