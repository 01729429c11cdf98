import type { Clock } from '../../runtime/clock.ts';
import { isObjectId, type ObjectId } from '../../runtime/object-id.ts';
import type { Random } from '../../runtime/random.ts';
import type { Change } from '../audit-log/audit-entry.ts';
import type { AuditLog } from '../audit-log/audit-log.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorCode, errorReply } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { ReplyValue } from '../contract/exchange.ts';
import {
  answerOperator,
  isOfMovedTenant,
  type OwnedReply,
  type OwnerOptions,
} from '../owner/answer-as-owner.ts';
import { type Followed, ownerFollower } from '../owner/follow-owner.ts';
import { decodeOwnedReply, encodeForwarded } from '../owner/forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from '../owner/remote-owner.ts';
import { anonymous, type BodyPolicy, type EdgeHandler, isRead, routed } from '../pipeline/front.ts';
import type { Router } from '../pipeline/router.ts';
import type { OperatorTokenCheck } from './operator-token-check.ts';
import type { OperatorServices } from './services.ts';

/** The router, the check of tokens and the services of the operators' edge. */
export interface OperatorFrontOptions {
  readonly router: Router<OperatorServices>;
  readonly services: OperatorServices;
  readonly owner: Pick<OwnerOptions, 'stillOwner' | 'log'>;
  readonly tokenCheck: OperatorTokenCheck;
  readonly forwarder: Forwarder;
  readonly audit: Pick<AuditLog, 'begin' | 'drop' | 'end'>;
  readonly clock: Clock;
  readonly random: Random;
  newId(): ObjectId;
}

/** The options of the edge, with the follower of requests whose tenant moves. */
interface Edge extends OperatorFrontOptions {
  readonly follow: (call: Followed) => Promise<OwnedReply>;
}

/** The operators' edge: route, token and role, then the node that owns the tenant a path names, or this one. */
export function createOperatorFront(parts: OperatorFrontOptions): EdgeHandler {
  const options: Edge = { ...parts, follow: ownerFollower(parts) };
  return async (request, { requestId, traceparent }) => {
    const target = routed(options.router, request);
    if (!target.found) return target.refused;
    const { endpoint, route } = target;
    const { role = 'admin' } = endpoint;
    const admitted = options.tokenCheck.admit(request, { role, changes: endpoint.method !== 'GET' });
    if (admitted.operator === undefined) return anonymous(admitted.refusal, route);
    // Operators name everything by its id, in either case.
    const values = target.values.map((value) => (isObjectId(value) ? value.toLowerCase() : value));
    const tenantId = tenantOf(endpoint, values, options);
    if (tenantId === 'unknown') return anonymous(errorReply({ code: 'NOT_FOUND' }), route);
    const asked = {
      values,
      query: request.query,
      contentType: request.headers.contentType,
      body: request.body,
      bodyFault: request.bodyFault,
      idempotencyKey: request.headers.idempotencyKey,
      requestId,
      traceparent,
      tenantId,
      operator: admitted.operator,
    };
    const answer = (): Promise<ReplyValue> => answerByOwner(endpoint, asked, options);
    if (endpoint.method === 'GET') return { reply: await answer(), route, tenantId, keyId: undefined };
    const { name: operator, role: held } = admitted.operator;
    const named = endpoint.params.map((param, index) => [param, (values[index] ?? '').slice(0, LONGEST_ID)]);
    const change: Change = {
      operator,
      role: held,
      method: endpoint.method,
      route: endpoint.path,
      params: { ...Object.fromEntries(named), ...(tenantId === undefined ? {} : { tenantId }) },
      ip: request.ip,
      requestId,
    };
    const reply = await recorded(change, answer, options);
    return { reply, route, tenantId, keyId: undefined };
  };
}

/** The operators' bodies: nothing is kept of one without a token of theirs. */
export function operatorBodies({
  router,
  tokenCheck,
}: Pick<OperatorFrontOptions, 'router' | 'tokenCheck'>): BodyPolicy {
  return {
    headDecides: (head) => !routed(router, head).found || isRead(head.method) || !tokenCheck.knows(head),
    accountOf: () => 'operators',
  };
}

/** Characters of a path's id that are written down; every id of ours is shorter. */
const LONGEST_ID = 100;

/**
 * Records a change, tries it, and records its outcome. A change that cannot be recorded is not tried. The process log
 * has it too, because no operator can push older changes out of that log.
 */
async function recorded(
  change: Change,
  answer: () => Promise<ReplyValue>,
  { audit, owner: { log } }: Pick<Edge, 'audit' | 'owner'>,
): Promise<ReplyValue> {
  let id: string;
  try {
    id = await audit.begin(change);
  } catch (thrown) {
    log.warn({ err: thrown, route: change.route }, 'a change of an operator could not be written down');
    return errorReply(failureOfThrown(thrown));
  }
  const reply = await answer();
  const outcome = { status: reply.status, code: errorCode(reply) };
  log.info({ change: id, ...change, ...outcome }, 'change by an operator');
  try {
    // A call that names nothing changed nothing. Its entry must not push a change out of the log.
    if (reply.status === 404) await audit.drop(id);
    else await audit.end(id, outcome);
  } catch (thrown) {
    log.warn({ err: thrown, id }, 'the outcome of a change could not be written down');
  }
  return reply;
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
  return isObjectId(value) ? value : 'unknown';
}

/** Here, or on the node that owns the tenant, or on the next one when it moves on meanwhile, as for tenants. */
async function answerByOwner(
  endpoint: Endpoint<OperatorServices>,
  parts: Parameters<typeof answerOperator>[1],
  { forwarder, services, owner, follow }: Edge,
): Promise<ReplyValue> {
  const { tenantId } = parts;
  if (tenantId === undefined) return (await answerOperator(endpoint, parts, services, owner)).reply;
  const { method, path, forwardTimeoutMs = FORWARD_TIMEOUT_MS } = endpoint;
  const ask = async (spentMs: number): Promise<OwnedReply> => {
    if (forwarder.ownerIsLocal(tenantId)) return answerOperator(endpoint, parts, services, owner);
    try {
      const payload = encodeForwarded({ kind: 'operator', method, path, parts: { ...parts, tenantId } });
      return decodeOwnedReply(
        await forwarder.forward(tenantId, payload, Math.max(1, forwardTimeoutMs - spentMs)),
      );
    } catch (thrown) {
      return { reply: errorReply(failureOfThrown(thrown)), keyId: undefined, moved: isOfMovedTenant(thrown) };
    }
  };
  return (await follow({ tenantId, ask })).reply;
}
