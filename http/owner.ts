import type { Admission, TenantOperations } from '../actors/tenant/tenant-operations.ts';
import { type Eventual, onceKnown } from '../runtime/eventual.ts';
import type { Logger } from '../runtime/logger.ts';
import { checkRequest, type RequestParts } from './checked-request.ts';
import type { Endpoint } from './endpoint.ts';
import { errorReply, JSON_TYPE, rateHeaders, successBody } from './envelope.ts';
import { failureOfThrown, type HttpFailure } from './errors.ts';
import type { HeaderLines, ReplyValue } from './exchange.ts';

/** What the owner of a tenant needs of a request; plain data, so that it can travel. */
export interface OwnedRequest extends RequestParts {
  readonly tenantId: string;
  /** SHA-256 of the presented key in hex. */
  readonly keyHash: string;
  readonly ip: string;
}

/** The owner's answer, and which key it was. */
export interface OwnedReply {
  readonly reply: ReplyValue;
  readonly keyId: string | undefined;
}

/** What the owner part works with. */
export interface OwnerOptions {
  readonly tenants: Pick<TenantOperations, 'admit'>;
  /** True when this node owns the tenant's shard and its lease holds now. */
  stillOwner(tenantId: string): boolean;
  readonly log: Logger;
}

/**
 * Answers one request of a tenant's key on the node that owns the tenant: admit → permission → validate → handle
 * (DESIGN section 4: Order on a send). Nothing leaves unless the lease still holds. Never rejects.
 */
export function answerAsOwner<Services>(
  endpoint: Endpoint<Services>,
  request: OwnedRequest,
  services: Services,
  options: OwnerOptions,
): Eventual<OwnedReply> {
  const { tenants, stillOwner, log } = options;
  let keyId: string | undefined;
  let rate: HeaderLines = '';
  const admitted = (admission: Admission): Eventual<OwnedReply> => {
    keyId = admission.admitted ? admission.caller.keyId : admission.keyId;
    if (admission.rate !== undefined) rate = rateHeaders(admission.rate);
    return onceKnown(answerAdmitted(endpoint, request, services, { admission, rate }), release);
  };
  const release = (reply: ReplyValue): OwnedReply =>
    stillOwner(request.tenantId)
      ? { reply, keyId }
      : { reply: errorReply({ code: 'SERVICE_UNAVAILABLE' }, rate), keyId };
  const failed = (thrown: unknown): OwnedReply => ({
    reply: errorReply(told(endpoint, thrown, log), rate),
    keyId,
  });
  try {
    const answered = onceKnown(tenants.admit(request), admitted);
    return answered instanceof Promise ? answered.catch(failed) : answered;
  } catch (thrown) {
    return failed(thrown);
  }
}

function answerAdmitted<Services>(
  endpoint: Endpoint<Services>,
  request: OwnedRequest,
  services: Services,
  { admission, rate }: { readonly admission: Admission; readonly rate: HeaderLines },
): Eventual<ReplyValue> {
  if (!admission.admitted) return errorReply(admission.failure, rate);
  const { caller } = admission;
  const { permission } = endpoint;
  if (permission !== 'none' && (permission === 'operator' || !caller.permissions.has(permission))) {
    const message = `This API key lacks the permission ${permission}.`;
    return errorReply({ code: 'FORBIDDEN_PERMISSION', message }, rate);
  }
  const checked = checkRequest(endpoint, request);
  if (!checked.ok) return errorReply({ code: 'VALIDATION_ERROR', fields: checked.fields }, rate);
  const { params, query, body } = checked;
  return onceKnown(endpoint.handle({ caller, params, query, body, services }), (answer) =>
    replyOf(answer, rate),
  );
}

/** Answers one request of an operator: validate → handle. The token was checked at the edge. Never rejects. */
export async function answerOperator<Services>(
  endpoint: Endpoint<Services>,
  parts: RequestParts & { readonly tenantId: string | undefined },
  services: Services,
  options: Pick<OwnerOptions, 'stillOwner' | 'log'>,
): Promise<ReplyValue> {
  try {
    const checked = checkRequest(endpoint, parts);
    if (!checked.ok) return errorReply({ code: 'VALIDATION_ERROR', fields: checked.fields });
    const { tenantId } = parts;
    const params = tenantId === undefined ? checked.params : { ...checked.params, tenantId };
    const { query, body } = checked;
    const reply = replyOf(await endpoint.handle({ caller: undefined, params, query, body, services }), '');
    if (tenantId === undefined || options.stillOwner(tenantId)) return reply;
    return errorReply({ code: 'SERVICE_UNAVAILABLE' });
  } catch (thrown) {
    return errorReply(told(endpoint, thrown, options.log));
  }
}

function replyOf(answer: Awaited<ReturnType<Endpoint<never>['handle']>>, rate: HeaderLines): ReplyValue {
  if ('failure' in answer) return errorReply(answer.failure, rate);
  const { status, data, headers = '' } = answer;
  return { status, contentType: JSON_TYPE, headers: rate + headers, body: successBody(data) };
}

/** A broken invariant goes to the log, since the caller is not shown it. */
function told(endpoint: Endpoint<never>, thrown: unknown, log: Logger): HttpFailure {
  const failure = failureOfThrown(thrown);
  if (failure.code === 'INTERNAL_ERROR') {
    log.error({ err: thrown, route: `${endpoint.method} ${endpoint.path}` }, 'an endpoint threw');
  }
  return failure;
}
