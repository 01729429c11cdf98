import { done, failed, type Outcome } from '../../../actors/failure.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { isObjectId, type ObjectId } from '../../../runtime/object-id.ts';
import type { Random } from '../../../runtime/random.ts';
import type { Change } from '../../audit-log/audit-entry.ts';
import type { AuditLog } from '../../audit-log/audit-log.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { errorReply } from '../../contract/envelope.ts';
import { failureOfThrown } from '../../contract/errors.ts';
import type { CallIds, ReplyValue, RequestValue } from '../../contract/exchange.ts';
import { type FollowedRequest, ownerFollower } from '../../owner/follow-owner.ts';
import { forwardToOwner } from '../../owner/forward-to-owner.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from '../../owner/forwarder.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import type { ServingOptions } from '../../owner/serve-as-owner.ts';
import { type OperatorRequest, serveOperator } from '../../owner/serve-operator.ts';
import {
  anonymous,
  bodyRefusal,
  type EdgeCall,
  type EdgeReply,
  isReadMethod,
  withoutEndpoint,
} from '../../pipeline/edge.ts';
import { makeRouter } from '../../pipeline/router.ts';
import { OPERATOR_BASE_PATH } from '../base-path.ts';
import { OPERATOR_ENDPOINTS } from '../endpoints.ts';
import type { OperatorServices } from '../services.ts';
import type { OperatorTokenCheck } from './operator-token-check.ts';

export interface OperatorsEdgeOptions {
  readonly services: OperatorServices;
  readonly serving: Pick<ServingOptions, 'stillOwner' | 'log'>;
  readonly tokenCheck: OperatorTokenCheck;
  readonly forwarder: Forwarder;
  readonly audit: Pick<AuditLog, 'begin' | 'drop' | 'end'>;
  readonly clock: Clock;
  readonly random: Random;
  newId(): ObjectId;
}

/** The options of the edge, with the follower of requests whose tenant moves. */
interface Edge extends OperatorsEdgeOptions {
  readonly follow: (request: FollowedRequest) => Promise<OwnerReply>;
}

/** Makes the operators' edge: route, token and role, then the owner of the tenant that the path names, or this node. */
export function operatorsEdge(options: OperatorsEdgeOptions): (request: RequestValue) => EdgeCall {
  const edge: Edge = { ...options, follow: ownerFollower(options) };
  const matchOf = makeRouter(OPERATOR_BASE_PATH, OPERATOR_ENDPOINTS);
  return (request) => {
    const match = matchOf(request.path);
    const endpoint = match?.route.byMethod.get(request.method);
    if (match === undefined || endpoint === undefined) return withoutEndpoint(request, match);
    const target = { endpoint, route: match.route.path, given: match.values };
    return {
      request,
      // Nothing is kept of a body without an operator's token.
      get takesBody() {
        return !isReadMethod(request.method) && edge.tokenCheck.knows(request);
      },
      tenant: () => 'operators',
      answer: async (ids) => bodyRefusal(request, target.route) ?? answerOperator(target, request, ids, edge),
    };
  };
}

/** An endpoint, its route, and the values of the path as they were sent. */
interface Target {
  readonly endpoint: Endpoint<OperatorServices>;
  readonly route: string;
  readonly given: readonly string[];
}

async function answerOperator(
  { endpoint, route, given }: Target,
  request: RequestValue,
  { requestId, traceparent }: CallIds,
  options: Edge,
): Promise<EdgeReply> {
  const { role = 'admin' } = endpoint;
  const admitted = options.tokenCheck.admit(request, { role, isChange: endpoint.method !== 'GET' });
  if (!admitted.isAdmitted) return anonymous(admitted.refusal, route);
  // Operators may write ids in either case.
  const values = given.map((value) => (isObjectId(value) ? value.toLowerCase() : value));
  const tenant = tenantOf(endpoint, values, options);
  if (!tenant.ok) return anonymous(errorReply(tenant.failure), route);
  const tenantId = tenant.value;
  const { query, headers, body, bodyFault } = request;
  const { contentType, idempotencyKey } = headers;
  const operatorRequest: OperatorRequest = {
    values,
    query,
    contentType,
    body,
    bodyFault,
    idempotencyKey,
    requestId,
    traceparent,
    tenantId,
    operator: admitted.operator,
  };
  const ask = (): Promise<ReplyValue> => askForOperator(endpoint, operatorRequest, options);
  if (endpoint.method === 'GET') return { reply: await ask(), route, tenantId, keyId: undefined };
  const { name: operator, role: heldRole } = admitted.operator;
  const namedParams = endpoint.params.map((param, index) => [
    param,
    (values[index] ?? '').slice(0, LONGEST_ID),
  ]);
  const change: Change = {
    operator,
    role: heldRole,
    method: endpoint.method,
    route: endpoint.path,
    params: { ...Object.fromEntries(namedParams), ...(tenantId === undefined ? {} : { tenantId }) },
    ip: request.ip,
    requestId,
  };
  const reply = await recordChange(change, ask, options);
  return { reply, route, tenantId, keyId: undefined };
}

/** Most characters of a path's id that are recorded. Every id of ours is shorter. */
const LONGEST_ID = 100;

/**
 * Records a change, carries it out, and records its outcome. A change that cannot be recorded is not carried out. The
 * process log has it too, because no operator can push older changes out of that log.
 */
async function recordChange(
  change: Change,
  carryOut: () => Promise<ReplyValue>,
  { audit, serving: { log } }: Pick<Edge, 'audit' | 'serving'>,
): Promise<ReplyValue> {
  let id: string;
  try {
    id = await audit.begin(change);
  } catch (error) {
    log.warn({ err: error, route: change.route }, 'a change by an operator could not be recorded');
    return errorReply(failureOfThrown(error));
  }
  const reply = await carryOut();
  const outcome = { status: reply.status, code: reply.code };
  log.info({ change: id, ...change, ...outcome }, 'change by an operator');
  try {
    // A call that names nothing changed nothing. Its entry must not push a change out of the log.
    if (reply.status === 404) await audit.drop(id);
    else await audit.end(id, outcome);
  } catch (error) {
    log.warn({ err: error, id }, 'the outcome of a change by an operator could not be recorded');
  }
  return reply;
}

/** Returns the tenant that decides the shard, if the endpoint has one. Fails if the path cannot name a tenant. */
function tenantOf(
  endpoint: Endpoint<OperatorServices>,
  values: readonly string[],
  { newId }: Pick<OperatorsEdgeOptions, 'newId'>,
): Outcome<string | undefined, 'NOT_FOUND'> {
  if (endpoint.tenant === 'created') return done(newId());
  if (endpoint.tenant !== 'param') return done(undefined);
  const value = values[endpoint.params.indexOf('tenantId')] ?? '';
  return isObjectId(value) ? done(value) : failed('NOT_FOUND');
}

/**
 * Asks the owner of the tenant, which may be this node, and the next owner while the tenant moves. Without a tenant,
 * this node serves the request.
 */
async function askForOperator(
  endpoint: Endpoint<OperatorServices>,
  request: OperatorRequest,
  { forwarder, services, serving, follow }: Edge,
): Promise<ReplyValue> {
  const { tenantId } = request;
  if (tenantId === undefined) return (await serveOperator(endpoint, request, services, serving)).reply;
  const { method, path, forwardTimeoutMs = FORWARD_TIMEOUT_MS } = endpoint;
  const ask: FollowedRequest['ask'] = (spentMs) => {
    if (forwarder.ownerIsLocal(tenantId)) return serveOperator(endpoint, request, services, serving);
    const nodeRequest = { kind: 'operator', method, path, parts: { ...request, tenantId } } as const;
    return forwardToOwner(forwarder, tenantId, nodeRequest, forwardTimeoutMs - spentMs);
  };
  return (await follow({ tenantId, ask })).reply;
}
