import { isObjectId, type ObjectId } from '../runtime/object-id.ts';
import type { Endpoint } from './endpoint.ts';
import { errorReply } from './envelope.ts';
import { failureOfThrown } from './errors.ts';
import type { ReplyValue, RequestValue } from './exchange.ts';
import { decodeOwnedReply, encodeForwarded } from './forwarding.ts';
import { anonymous, type Front, routed } from './front.ts';
import { HOP_TIMEOUT_MS, type Hop } from './hop.ts';
import type { OperatorServices } from './operator-services.ts';
import { answerOperator, type OwnerOptions } from './owner.ts';
import { bearer, sameSecret } from './presented-key.ts';
import type { Router } from './router.ts';

/** What the operators' edge works with. */
export interface OperatorFrontOptions {
  readonly router: Router<OperatorServices>;
  readonly services: OperatorServices;
  readonly owner: Pick<OwnerOptions, 'stillOwner' | 'log'>;
  readonly adminToken: string;
  readonly hop: Hop;
  newId(): ObjectId;
}

/** Why a request does not come from an operator; undefined when it does. */
export function tokenRefusal(request: RequestValue, adminToken: string): ReplyValue | undefined {
  const token = bearer(request.headers.authorization);
  if (token === undefined) {
    const message = 'The operator token is required: send Authorization: Bearer <ADMIN_TOKEN>.';
    return errorReply({ code: 'API_KEY_MISSING', message });
  }
  if (sameSecret(token, adminToken)) return undefined;
  return errorReply({ code: 'API_KEY_INVALID', message: 'This operator token is not valid.' });
}

/** The operators' edge: route, token, then the node that owns the tenant a path names, or this one. */
export function createOperatorFront(options: OperatorFrontOptions): Front {
  return async (request) => {
    const target = routed(options.router, request);
    if (!target.found) return target.refused;
    const { endpoint, values, route } = target;
    const refusal = tokenRefusal(request, options.adminToken);
    if (refusal !== undefined) return anonymous(refusal, route);
    const tenantId = tenantOf(endpoint, values, options);
    if (tenantId === 'unknown') return anonymous(errorReply({ code: 'NOT_FOUND' }), route);
    const parts = {
      values,
      query: request.query,
      contentType: request.headers.contentType,
      body: request.body,
      bodyFault: request.bodyFault,
      tenantId,
    };
    const reply = await answerByOwner(endpoint, parts, options);
    return { reply, route, tenantId, keyId: undefined };
  };
}

/** The tenant that decides the shard; `unknown` where the path cannot name one. */
function tenantOf(
  endpoint: Endpoint<OperatorServices>,
  values: readonly string[],
  { newId }: Pick<OperatorFrontOptions, 'newId'>,
): string | undefined {
  if (endpoint.tenant === 'created') return newId();
  if (endpoint.tenant !== 'param') return undefined;
  const value = values[endpoint.params.indexOf('tenantId')] ?? '';
  return isObjectId(value) ? value.toLowerCase() : 'unknown';
}

async function answerByOwner(
  endpoint: Endpoint<OperatorServices>,
  parts: Parameters<typeof answerOperator>[1],
  { hop, services, owner }: OperatorFrontOptions,
): Promise<ReplyValue> {
  const { tenantId } = parts;
  if (tenantId === undefined || hop.ownerIsLocal(tenantId)) {
    return answerOperator(endpoint, parts, services, owner);
  }
  const { method, path } = endpoint;
  try {
    const payload = encodeForwarded({ kind: 'operator', method, path, parts: { ...parts, tenantId } });
    const timeoutMs = endpoint.hopTimeoutMs ?? HOP_TIMEOUT_MS;
    return decodeOwnedReply(await hop.forward(tenantId, payload, timeoutMs)).reply;
  } catch (thrown) {
    return errorReply(failureOfThrown(thrown));
  }
}
