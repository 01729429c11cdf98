import { mapMaybePromise } from '../../runtime/maybe-promise.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Front, FrontReply } from './front.ts';

/** A front whose every request is a span, under the caller's where it sent a traceparent. */
export function tracedFront(front: Front, tracing: Tracing | undefined): Front {
  if (tracing === undefined) return front;
  return (request, call) => {
    const { method } = request;
    const span = tracing.start(method, { parent: call.traceparent, kind: 'server' });
    const { traceparent } = span;
    return mapMaybePromise(
      front(request, { requestId: call.requestId, traceparent }),
      (answered): FrontReply => {
        const { route, tenantId, reply } = answered;
        span.end({
          name: `${method} ${route}`,
          failed: reply.status >= 500,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': reply.status,
            'request.id': call.requestId,
            ...(tenantId === undefined ? {} : { 'tenant.id': tenantId }),
          },
        });
        return { ...answered, traceparent };
      },
    );
  };
}
