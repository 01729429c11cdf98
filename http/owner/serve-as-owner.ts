import { failed, refusedWith } from '../../actors/failure.ts';
import type { Admission, TenantOperations } from '../../actors/tenants/tenant-operations.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { CallerConnection } from '../contract/caller-connection.ts';
import { checkRequest, type RequestParts } from '../contract/checked-request.ts';
import type { Endpoint, HandlerResult } from '../contract/endpoint.ts';
import { errorReply, rateHeaders } from '../contract/envelope.ts';
import type { HeaderLines } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import { isOfMovedTenant, type OwnerReply, replyOf, replyToThrown } from './owner-reply.ts';

/** A tenant's request as its owner serves it. All but `connection` and `wait` can be forwarded to another node. */
export interface TenantRequest extends RequestParts {
  readonly tenantId: string;
  /** SHA-256 of the presented key in hex. */
  readonly keyHash: string;
  readonly ip: string;
  /** True for a call that was admitted and counted before: the next page of a stream, or a call that waited. */
  readonly isContinued?: boolean;
  /** True if a call that was admitted before counts once more. */
  readonly isCounted?: boolean;
  /** See `CallContext`. */
  readonly connection?: CallerConnection | undefined;
  /** The wait that has ended, if the call waited on this node. */
  readonly wait?: CallWait | undefined;
}

export interface ServingOptions {
  readonly tenants: Pick<TenantOperations, 'admit'>;
  /** True if this node owns the tenant's shard and its lease is valid now. */
  stillOwner(tenantId: string): boolean;
  /**
   * True while too many turns are under way, or a commit takes too long. A call that changes something is then refused
   * after its key is known.
   */
  isBusy(): boolean;
  readonly log: Logger;
}

/** A request while the owner serves it. */
interface ServedRequest<Services> {
  readonly endpoint: Endpoint<Services>;
  readonly request: TenantRequest;
  readonly services: Services;
  readonly options: ServingOptions;
  /** The key that called, and its rate headers. The admission sets them. */
  keyId: string | undefined;
  rate: HeaderLines;
}

/**
 * Serves one request of a tenant's key on the node that owns the tenant: admit → permission → validate → handle
 * (docs/contract.md, Order on a send). A handler's result is shown only while the lease is valid. Returns the reply at
 * once if nothing had to be waited for. Never rejects.
 */
export function serveAsOwner<Services>(
  endpoint: Endpoint<Services>,
  request: TenantRequest,
  services: Services,
  options: ServingOptions,
): MaybePromise<OwnerReply> {
  const served: ServedRequest<Services> = {
    endpoint,
    request,
    services,
    options,
    keyId: undefined,
    rate: '',
  };
  try {
    const admission = admit(served);
    return admission instanceof Promise ? onceAdmitted(served, admission) : serveAdmitted(served, admission);
  } catch (error) {
    return failedReply(served, error);
  }
}

// Separate, so that a request makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
function onceAdmitted<Services>(
  served: ServedRequest<Services>,
  admission: Promise<Admission>,
): Promise<OwnerReply> {
  return admission.then(
    (result) => serveAdmitted(served, result),
    (error) => failedReply(served, error),
  );
}

function admit<Services>({ endpoint, request, options }: ServedRequest<Services>): MaybePromise<Admission> {
  const isBusy = endpoint.method !== 'GET' && options.isBusy();
  const { mayExceedQuota } = endpoint;
  const isContinued = request.isContinued === true && request.isCounted !== true;
  return options.tenants.admit(request, { isBusy, mayExceedQuota, isContinued });
}

/** Serves a request once its admission is decided. It never throws. */
function serveAdmitted<Services>(
  served: ServedRequest<Services>,
  admission: Admission,
): MaybePromise<OwnerReply> {
  served.keyId = admission.isAdmitted ? admission.caller.keyId : admission.keyId;
  served.rate = admission.rate === undefined ? '' : rateHeaders(admission.rate);
  try {
    const result = checkAndHandle(served, admission);
    return result instanceof Promise ? onceHandled(served, result) : ownerReply(served, result);
  } catch (error) {
    return failedReply(served, error);
  }
}

function onceHandled<Services>(
  served: ServedRequest<Services>,
  handled: Promise<HandlerResult>,
): Promise<OwnerReply> {
  return handled.then(
    (result) => ownerReply(served, result),
    (error) => failedReply(served, error),
  );
}

/** Checks the permission, then the request, and then handles it. */
function checkAndHandle<Services>(
  { endpoint, request, services }: ServedRequest<Services>,
  admission: Admission,
): MaybePromise<HandlerResult> {
  if (!admission.isAdmitted) return refusedWith(admission.failure);
  const { caller } = admission;
  const { permission } = endpoint;
  if (permission !== 'none' && (permission === 'operator' || !caller.permissions.has(permission)))
    return failed('FORBIDDEN_PERMISSION', { message: `This API key lacks the permission ${permission}.` });
  const checkedRequest = checkRequest(endpoint, request);
  if (!checkedRequest.ok) return failed('VALIDATION_ERROR', { fields: checkedRequest.fields });
  const { params, query, body, idempotencyKey } = checkedRequest;
  return endpoint.handle({ caller, params, query, body, idempotencyKey, services, call: request });
}

/** Returns the reply to a request. If this node no longer owns the tenant, the result is not shown. It never throws. */
function ownerReply<Services>(served: ServedRequest<Services>, result: HandlerResult): OwnerReply {
  const { endpoint, request, options, keyId, rate } = served;
  try {
    const reply = replyOf(endpoint, result, rate);
    const { wait, file } = 'status' in result ? result : NEITHER;
    if (options.stillOwner(request.tenantId))
      return file === undefined ? { reply, keyId, wait } : { reply, keyId, file };
    wait?.leave();
    return { reply: errorReply({ code: 'SERVICE_UNAVAILABLE' }, rate), keyId };
  } catch (error) {
    return failedReply(served, error);
  }
}

const NEITHER = { wait: undefined, file: undefined } as const;

function failedReply<Services>(served: ServedRequest<Services>, error: unknown): OwnerReply {
  const { endpoint, options, keyId, rate } = served;
  return {
    reply: replyToThrown(endpoint, error, options.log, rate),
    keyId,
    hasMoved: isOfMovedTenant(error),
  };
}
