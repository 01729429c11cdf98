import { checkRequest, type RequestParts } from '../contract/checked-request.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import type { Operator } from '../contract/operator-role.ts';
import { isOfMovedTenant, type OwnerReply, replyOf, replyToThrown } from './owner-reply.ts';
import type { ServingOptions } from './serve-as-owner.ts';

/** An operator's request, whose token was checked at the edge. */
export interface OperatorRequest extends RequestParts {
  /** The tenant that the request names, or the new one that it makes. Undefined if there is none. */
  readonly tenantId: string | undefined;
  readonly operator: Operator;
}

/**
 * Serves one request of an operator: validate → handle. Never rejects. An erasure takes several commands, so the reply
 * to an interrupted one never says that nothing was done.
 */
export async function serveOperator<Services>(
  endpoint: Endpoint<Services>,
  request: OperatorRequest,
  services: Services,
  options: Pick<ServingOptions, 'stillOwner' | 'log'>,
): Promise<OwnerReply> {
  const { tenantId, operator } = request;
  try {
    const checkedRequest = checkRequest(endpoint, request);
    if (!checkedRequest.ok) {
      const reply = errorReply({ code: 'VALIDATION_ERROR', fields: checkedRequest.fields });
      return { reply, keyId: undefined };
    }
    const params = tenantId === undefined ? checkedRequest.params : { ...checkedRequest.params, tenantId };
    const result = await endpoint.handle({ ...checkedRequest, params, operator, services, call: request });
    const mayShow = tenantId === undefined || options.stillOwner(tenantId);
    const reply = mayShow ? replyOf(endpoint, result, '') : errorReply({ code: 'SERVICE_UNAVAILABLE' });
    return { reply, keyId: undefined };
  } catch (error) {
    const reply = replyToThrown(endpoint, error, options.log);
    return { reply, keyId: undefined, hasMoved: endpoint.method !== 'DELETE' && isOfMovedTenant(error) };
  }
}
