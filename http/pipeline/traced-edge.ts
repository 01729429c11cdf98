import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import type { Span, Tracing } from '../../runtime/tracing.ts';
import type { CallWait } from '../contract/waiting.ts';
import type { EdgeHandler, EdgeReply } from './edge.ts';

/**
 * An edge that makes one span of each request, waits included. Its parent is the caller's span if there is a
 * traceparent.
 */
export function tracedEdge(edge: EdgeHandler, tracing: Tracing | undefined): EdgeHandler {
  if (tracing === undefined) return edge;
  const waiting = new WeakMap<CallWait, Span>();
  return (entered, call) => {
    const { method } = entered.request;
    const { requestId, wait } = call;
    const span =
      (wait && waiting.get(wait)) ?? tracing.start(method, { parent: call.traceparent, kind: 'server' });
    const { traceparent } = span;
    return mapMaybePromise(edge(entered, { requestId, traceparent, wait }), (answered): EdgeReply => {
      if (answered.wait !== undefined) {
        waiting.set(answered.wait, span);
        return answered;
      }
      const { route, tenantId, reply } = answered;
      span.end({
        name: `${method} ${route}`,
        failed: reply.status >= 500,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'http.response.status_code': reply.status,
          'request.id': requestId,
          ...(tenantId === undefined ? {} : { 'tenant.id': tenantId }),
        },
      });
      return { ...answered, traceparent };
    });
  };
}
