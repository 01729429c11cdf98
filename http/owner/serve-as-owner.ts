import type { InboundDownload } from '../../actors/inbound-content.ts';
import type { Admission, TenantOperations } from '../../actors/tenants/tenant-operations.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import type { CallerConnection } from '../contract/caller-connection.ts';
import { checkRequest, type RequestParts } from '../contract/checked-request.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply, JSON_TYPE, rateHeaders, successBody } from '../contract/envelope.ts';
import { failureOfThrown, type HttpFailure } from '../contract/errors.ts';
import type { HeaderLines, ReplyValue } from '../contract/exchange.ts';
import type { Operator } from '../contract/operator-role.ts';
import type { CallWait } from '../contract/waiting.ts';

/** A request as the owner of its tenant gets it: plain data, so that it can be sent to another node. */
export interface TenantRequest extends RequestParts {
  readonly tenantId: string;
  /** SHA-256 of the presented key in hex. */
  readonly keyHash: string;
  readonly ip: string;
  /** True for a call that was admitted and counted before: the next page of a stream, or a call that waited. */
  readonly isContinued?: boolean;
  /** True when a call that was admitted before counts once more. */
  readonly isCounted?: boolean;
  /** On the node that took the call alone: a connection is not sent to another. */
  readonly connection?: CallerConnection | undefined;
  /** The wait that has ended, if the call waited on this node. */
  readonly wait?: CallWait | undefined;
}

/** The owner's answer, and the id of the key that asked. */
export interface OwnerReply {
  readonly reply: ReplyValue;
  readonly keyId: string | undefined;
  /** The tenant has moved and nothing was done here, so that another owner may be asked. */
  readonly moved?: boolean;
  /** A file that the node that took the call sends instead of the reply's body. */
  readonly file?: InboundDownload | undefined;
  /** Set if the call should wait for a better reply. Repeat the call with it after the wait has ended, or leave it. */
  readonly wait?: CallWait | undefined;
}

/** Admission, ownership, load and log, as the owner's part of a request uses them. */
export interface ServingOptions {
  readonly tenants: Pick<TenantOperations, 'admit'>;
  /** True when this node owns the tenant's shard and its lease holds now. */
  stillOwner(tenantId: string): boolean;
  /**
   * True if this node runs as many turns as it may. A call that changes something is then refused after its key is
   * known.
   */
  isBusy(): boolean;
  readonly log: Logger;
}

/** One request on its way through the owner. */
interface ServedCall<Services> {
  readonly endpoint: Endpoint<Services>;
  readonly request: TenantRequest;
  readonly services: Services;
  readonly options: ServingOptions;
}

/**
 * Answers one request of a tenant's key on the node that owns the tenant: admit → permission → validate → handle
 * (docs/contract.md, Order on a send). The reply is sent only while the lease is valid. Never rejects.
 */
export function serveAsOwner<Services>(
  endpoint: Endpoint<Services>,
  request: TenantRequest,
  services: Services,
  options: ServingOptions,
): MaybePromise<OwnerReply> {
  const call: ServedCall<Services> = { endpoint, request, services, options };
  let admission: MaybePromise<Admission>;
  try {
    admission = admit(call);
  } catch (thrown) {
    return failed(call, thrown);
  }
  return admission instanceof Promise ? onceAdmitted(call, admission) : answerAdmission(call, admission);
}

// Asynchronous parts are separate functions: a function that creates closures pays for them even if nothing waits.
function onceAdmitted<Services>(
  call: ServedCall<Services>,
  admission: Promise<Admission>,
): Promise<OwnerReply> {
  return admission.then(
    (known) => answerAdmission(call, known),
    (thrown) => failed(call, thrown),
  );
}

/** The answer of a handler. */
type HandledAnswer = Awaited<ReturnType<Endpoint<never>['handle']>>;

/** The caller that a reply is for. */
interface Addressee {
  readonly keyId: string | undefined;
  readonly rate: HeaderLines;
}

function admit<Services>({ endpoint, request, options }: ServedCall<Services>): MaybePromise<Admission> {
  const isBusy = endpoint.method !== 'GET' && options.isBusy();
  const { mayExceedQuota } = endpoint;
  const isContinued = request.isContinued === true && request.isCounted !== true;
  return options.tenants.admit(request, { isBusy, mayExceedQuota, isContinued });
}

/** Never rejects. */
function answerAdmission<Services>(
  call: ServedCall<Services>,
  admission: Admission,
): MaybePromise<OwnerReply> {
  const keyId = admission.admitted ? admission.caller.keyId : admission.keyId;
  const rate = admission.rate === undefined ? '' : rateHeaders(admission.rate);
  const to: Addressee = { keyId, rate };
  try {
    const answer = handled(call, admission);
    return answer instanceof Promise ? onceHandled(call, answer, to) : answered(call, answer, to);
  } catch (thrown) {
    return failed(call, thrown, to);
  }
}

function onceHandled<Services>(
  call: ServedCall<Services>,
  answer: Promise<HandledAnswer>,
  to: Addressee,
): Promise<OwnerReply> {
  return answer.then(
    (known) => answered(call, known, to),
    (thrown) => failed(call, thrown, to),
  );
}

/** Permission → validate → handle. */
function handled<Services>(
  { endpoint, request, services }: ServedCall<Services>,
  admission: Admission,
): MaybePromise<HandledAnswer> {
  if (!admission.admitted) return refusal(admission.failure);
  const { caller } = admission;
  const { permission } = endpoint;
  if (permission !== 'none' && (permission === 'operator' || !caller.permissions.has(permission))) {
    const message = `This API key lacks the permission ${permission}.`;
    return refusal({ code: 'FORBIDDEN_PERMISSION', message });
  }
  const checked = checkRequest(endpoint, request);
  if (!checked.ok) return refusal({ code: 'VALIDATION_ERROR', fields: checked.fields });
  const { params, query, body, idempotencyKey } = checked;
  return endpoint.handle({ caller, params, query, body, idempotencyKey, services, call: request });
}

function refusal(failure: Extract<HandledAnswer, { readonly ok: false }>['failure']): HandledAnswer {
  return { ok: false, failure };
}

/** The reply of an answer, unless another node owns the tenant by now. */
function answered<Services>(call: ServedCall<Services>, answer: HandledAnswer, to: Addressee): OwnerReply {
  const { endpoint, request, options } = call;
  const { keyId, rate } = to;
  try {
    const reply = replyOf(endpoint, answer, rate);
    const { wait, file } = 'status' in answer ? answer : NEITHER;
    if (options.stillOwner(request.tenantId)) {
      return file === undefined ? { reply, keyId, wait } : { reply, keyId, file };
    }
    wait?.leave();
    return { reply: errorReply({ code: 'SERVICE_UNAVAILABLE' }, rate), keyId };
  } catch (thrown) {
    return failed(call, thrown, to);
  }
}

const NEITHER = { wait: undefined, file: undefined } as const;

function failed<Services>(
  { endpoint, options }: ServedCall<Services>,
  thrown: unknown,
  { keyId, rate }: Addressee = { keyId: undefined, rate: '' },
): OwnerReply {
  const reply = errorReply(loggedFailure(endpoint, thrown, options.log), rate);
  return isOfMovedTenant(thrown) ? { reply, keyId, moved: true } : { reply, keyId };
}

/**
 * True if another node must be asked and this one did nothing. An endpoint changes something in at most one command,
 * and the runtime never reports this for a command that may have been carried out.
 */
export function isOfMovedTenant(thrown: unknown): boolean {
  return (
    thrown instanceof RuntimeFailure && (thrown.code === 'SHARD_NOT_OWNED' || thrown.code === 'STOPPING')
  );
}

/**
 * Answers one request of an operator: validate → handle. The token was checked at the edge. Never rejects. An erasure
 * takes several commands, so the reply to an interrupted one never says that nothing was done.
 */
export async function serveOperator<Services>(
  endpoint: Endpoint<Services>,
  parts: RequestParts & { readonly tenantId: string | undefined; readonly operator: Operator },
  services: Services,
  options: Pick<ServingOptions, 'stillOwner' | 'log'>,
): Promise<OwnerReply> {
  const keyId = undefined;
  try {
    const checked = checkRequest(endpoint, parts);
    if (!checked.ok) {
      return { reply: errorReply({ code: 'VALIDATION_ERROR', fields: checked.fields }), keyId };
    }
    const { tenantId } = parts;
    const params = tenantId === undefined ? checked.params : { ...checked.params, tenantId };
    const { operator } = parts;
    const answer = await endpoint.handle({ ...checked, params, operator, services, call: parts });
    const reply = replyOf(endpoint, answer, '');
    if (tenantId === undefined || options.stillOwner(tenantId)) return { reply, keyId };
    return { reply: errorReply({ code: 'SERVICE_UNAVAILABLE' }), keyId };
  } catch (thrown) {
    const reply = errorReply(loggedFailure(endpoint, thrown, options.log));
    return { reply, keyId, moved: endpoint.method !== 'DELETE' && isOfMovedTenant(thrown) };
  }
}

function replyOf(
  endpoint: Pick<Endpoint<never>, 'replies' | 'status'>,
  answer: HandledAnswer,
  rate: HeaderLines,
): ReplyValue {
  if ('failure' in answer) return errorReply(answer.failure, rate);
  const {
    status,
    data,
    headers = '',
  } = 'status' in answer ? answer : { status: endpoint.status, data: answer.value };
  const write: ((data: never) => string) | undefined = endpoint.replies[status as 200]?.write;
  const body = write === undefined ? successBody(data) : write(data as never);
  return { status, contentType: JSON_TYPE, headers: rate + headers, body };
}

/** The failure for a thrown value. A broken invariant goes to the log, since the caller is not shown it. */
function loggedFailure(endpoint: Endpoint<never>, thrown: unknown, log: Logger): HttpFailure {
  const failure = failureOfThrown(thrown);
  if (failure.code === 'INTERNAL_ERROR') {
    log.error({ err: thrown, route: `${endpoint.method} ${endpoint.path}` }, 'an endpoint threw');
  }
  return failure;
}
