import type { ReplyValue, RequestValue } from '../../../http/contract/exchange.ts';
import type { EdgeCall } from '../../../http/pipeline/edge.ts';
import { BodyBudget } from '../../../http/socket/body-budget.ts';
import { type Server, type ServerOptions, startServer } from '../../../http/socket/server.ts';
import type { MaybePromise } from '../../../runtime/maybe-promise.ts';

export interface BareOptions extends Partial<Omit<ServerOptions, 'answer' | 'enter'>> {
  readonly answer: (request: RequestValue) => MaybePromise<ReplyValue>;
  /** The tenant of a body that comes in pieces. Default: the same for all. */
  readonly tenantOf?: (request: RequestValue) => string;
}

/** Starts only a listener on loopback that reads every body. `options` has the settings of a test. */
export function bareServer({ answer, tenantOf, ...options }: BareOptions): Promise<Server> {
  return startServer({
    host: '127.0.0.1',
    port: 0,
    callerAddress: undefined,
    eventsPath: undefined,
    bodies: new BodyBudget(),
    enter: (request) => bareCall(request, tenantOf),
    answer: ({ request }) => answer(request),
    ...options,
  });
}

/** A call whose body is read and that leads to no endpoint. */
export function bareCall(
  request: RequestValue,
  tenantOf: BareOptions['tenantOf'] = () => 'somebody',
): EdgeCall {
  return {
    request,
    takesBody: true,
    tenant: () => tenantOf(request),
    answer: () => Promise.reject(new Error('no endpoint')),
  };
}
