import { API_BASE_PATH } from '../../actors/api-base-path.ts';
import type { KeyDirectory } from '../../actors/tenants/key-directory.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Counts } from '../../runtime/counts.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { RequestValue } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import { ownerFollower } from '../owner/follow-owner.ts';
import { type OwnerReply, serveAsOwner, type TenantRequest } from '../owner/serve-as-owner.ts';
import {
  anonymous,
  bodyRefusal,
  type CallMarks,
  type EdgeReply,
  type Entered,
  isRead,
  noEndpoint,
} from '../pipeline/edge.ts';
import { hashOfKey, presentedKey } from '../pipeline/presented-key.ts';
import { createRouter, type Match } from '../pipeline/router.ts';
import { askNextOwner, askOwner, type OwnerWays } from './ask-owner.ts';
import { API_ENDPOINTS } from './endpoints.ts';
import type { EventReaders } from './event-readers.ts';
import type { FileReplies } from './file-replies.ts';
import { openStream } from './followed-pages.ts';
import type { ApiServices } from './services.ts';

/** The key look-up, the owner's part and the ways to other nodes that the tenants' edge uses. */
export interface TenantsEdgeOptions extends Omit<OwnerWays, 'follow' | 'inFlight'> {
  readonly keys: KeyDirectory;
  readonly clock: Clock;
  readonly eventReaders: EventReaders;
  readonly files: FileReplies;
  /** Most calls of one tenant in progress. Further ones are refused OVERLOADED. */
  readonly maxInFlightPerTenant: number;
}

/** The options of the edge, with the follower of requests whose tenant moves and each tenant's requests in flight. */
interface Edge extends TenantsEdgeOptions, OwnerWays {}

/**
 * The tenants' edge: route, key → hash → tenant, then the owner, here or on another node. The edge only finds the
 * tenant of a key. The owner decides if the key is valid, so a revocation needs no broadcast (runtime/README.md, How one
 * writer is ensured).
 */
export function tenantsEdge(parts: TenantsEdgeOptions): (request: RequestValue) => Entered {
  const edge: Edge = { ...parts, follow: ownerFollower(parts), inFlight: new Counts() };
  const router = createRouter(API_BASE_PATH, API_ENDPOINTS);
  return (request) => new EnteredCall(request, router.match(request.path), edge);
}

/** Stands for a tenant that was not looked up yet. */
const NOT_ASKED = '';

/** A request at the tenants' edge. A call that waits keeps it, so it holds little. */
class EnteredCall implements Entered {
  readonly request: RequestValue;
  readonly #match: Match<ApiServices> | undefined;
  readonly #endpoint: Endpoint<ApiServices> | undefined;
  /** SHA-256 of the key in hex; undefined without a well-formed one. */
  readonly #hash: string | undefined;
  readonly #edge: Edge;
  #tenantId: MaybePromise<string | undefined> = NOT_ASKED;

  constructor(request: RequestValue, match: Match<ApiServices> | undefined, edge: Edge) {
    this.request = request;
    this.#match = match;
    this.#endpoint = match?.route.byMethod.get(request.method);
    const key = presentedKey(request.headers);
    this.#hash = key === undefined ? undefined : hashOfKey(key);
    this.#edge = edge;
  }

  get takesBody(): boolean {
    return this.#endpoint !== undefined && !isRead(this.request.method) && this.#hash !== undefined;
  }

  account(): MaybePromise<string | undefined> {
    if (this.#tenantId === NOT_ASKED) this.#tenantId = this.#edge.keys.tenantOfKey(this.#hash ?? '');
    return this.#tenantId;
  }

  answer(call: CallMarks): MaybePromise<EdgeReply> {
    const match = this.#match;
    const endpoint = this.#endpoint;
    if (match === undefined || endpoint === undefined) return noEndpoint(match);
    const { request } = this;
    const route = match.route.path;
    const refused = bodyRefusal(request, route);
    if (refused !== undefined) return refused;
    const hash = this.#hash;
    if (hash === undefined) {
      const isMissing = presentedKey(request.headers) === undefined;
      return anonymous(errorReply({ code: isMissing ? 'API_KEY_MISSING' : 'API_KEY_INVALID' }), route);
    }
    const known = { request, route, endpoint, values: match.values, hash, call };
    const tenantId = this.account();
    return tenantId instanceof Promise
      ? answerOnceFound(known, tenantId, this.#edge)
      : answerKey(known, tenantId, this.#edge);
  }
}

/** A request with a well-formed key for an endpoint. */
interface KnownCall {
  readonly request: RequestValue;
  readonly route: string;
  readonly endpoint: Endpoint<ApiServices>;
  readonly values: readonly string[];
  readonly hash: string;
  readonly call: CallMarks;
}

/** The endpoint of a request, and its route. */
type Target = Pick<KnownCall, 'route' | 'endpoint'>;

/** Returns the reply for a key that this node must look up. */
function answerOnceFound(
  known: KnownCall,
  tenantId: Promise<string | undefined>,
  edge: Edge,
): Promise<EdgeReply> {
  return tenantId.then(
    (found) => answerKey(known, found, edge),
    (thrown) => {
      const { route } = known;
      edge.serving.log.warn({ err: thrown, route }, 'a key could not be looked up');
      return anonymous(errorReply(failureOfThrown(thrown)), route);
    },
  );
}

/** Answers within the tenant's share of the requests in flight. An answer that is there at once is not counted. */
function answerKey(known: KnownCall, tenantId: string | undefined, edge: Edge): MaybePromise<EdgeReply> {
  const { request, route, endpoint, call } = known;
  if (tenantId === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), route);
  // A call that waited was admitted before.
  if (call.wait === undefined && edge.inFlight.of(tenantId) >= edge.maxInFlightPerTenant) {
    const message = 'Too many calls of this account are being answered; try again shortly.';
    return { reply: errorReply({ code: 'OVERLOADED', message }), route, tenantId, keyId: undefined };
  }
  const { followed, givesFile } = endpoint;
  const { headers, method } = request;
  const owned = ownedRequest(known, tenantId);
  const place = { route, tenantId };
  if (givesFile) return counted(answerFile(endpoint, owned, method === 'HEAD', edge), place, edge.inFlight);
  if (followed === undefined || !headers.takesEvents || method !== 'GET') {
    return answerOwned(known, call.wait === undefined ? owned : continued(owned, endpoint, call.wait), edge);
  }
  const opened = openStream({ endpoint, followed }, { request: owned, place: headers.lastEventId }, edge);
  return counted(opened, place, edge.inFlight);
}

/** A file that the owner allows is fetched by this node, whichever node that is. */
async function answerFile(
  endpoint: Endpoint<ApiServices>,
  owned: TenantRequest,
  isHead: boolean,
  edge: Edge,
): Promise<OwnerReply> {
  const answered = await askOwner(endpoint, owned, edge);
  const { file } = answered;
  if (file === undefined) return answered;
  const { tenantId, connection } = owned;
  return edge.files.reply({ ...answered, file }, { tenantId, isHead, connection });
}

function answerOwned(target: Target, owned: TenantRequest, edge: Edge): MaybePromise<EdgeReply> {
  const { endpoint, route } = target;
  const { inFlight, forwarder, services, serving } = edge;
  const { tenantId } = owned;
  if (!forwarder.ownerIsLocal(tenantId)) {
    return counted(askOwner(endpoint, owned, edge), { route, tenantId }, inFlight);
  }
  const answered = serveAsOwner(endpoint, owned, services, serving);
  return answered instanceof Promise
    ? countedHere(target, owned, answered, edge)
    : answeredHere(target, owned, answered, edge);
}

/** The answer of this node, or that of the next owner when the tenant moved meanwhile. */
function answeredHere(
  { endpoint, route }: Target,
  owned: TenantRequest,
  answered: OwnerReply,
  edge: Edge,
): MaybePromise<EdgeReply> {
  const { tenantId } = owned;
  if (!answered.moved) return edgeReply(answered, route, tenantId);
  return counted(askNextOwner(endpoint, owned, answered, edge), { route, tenantId }, edge.inFlight);
}

/*
 * Asynchronous parts are separate functions: a function that creates closures pays for them in each call, even if
 * nothing waits.
 */

/** Counts a request of the tenant until another node gives its answer, or until an open reply ends. */
function counted(
  answered: Promise<OwnerReply>,
  { route, tenantId }: { readonly route: string; readonly tenantId: string },
  inFlight: Counts,
): Promise<EdgeReply> {
  inFlight.add(tenantId, 1);
  return answered
    .finally(() => inFlight.add(tenantId, -1))
    .then((known) => edgeReply(known, route, tenantId));
}

/** Counts a request of the tenant until its answer is there. */
function countedHere(
  target: Target,
  owned: TenantRequest,
  answered: Promise<OwnerReply>,
  edge: Edge,
): Promise<EdgeReply> {
  edge.inFlight.add(owned.tenantId, 1);
  // It never rejects.
  return answered.then((known) => {
    edge.inFlight.add(owned.tenantId, -1);
    return answeredHere(target, owned, known, edge);
  });
}

/** A call that waited, as it goes on. */
function continued(asked: TenantRequest, { waits }: Endpoint<ApiServices>, wait: CallWait): TenantRequest {
  const query = waits?.continued(asked.query, wait) ?? asked.query;
  return { ...asked, query, isContinued: true, wait };
}

/** The tenant of a call. This node may remember a key that its tenant has no more, or whose tenant was erased. */
function edgeReply({ reply, keyId, wait }: OwnerReply, route: string, tenantId: string): EdgeReply {
  if (keyId === undefined && reply.status === 401) return anonymous(reply, route);
  return { reply, route, tenantId, keyId, wait };
}

/** Field by field: a copy by spread takes a hundred bytes more of each call that waits. */
function ownedRequest({ request, values, hash, call }: KnownCall, tenantId: string): TenantRequest {
  return {
    tenantId,
    keyHash: hash,
    ip: request.ip,
    values,
    query: request.query,
    contentType: request.headers.contentType,
    body: request.body,
    bodyFault: request.bodyFault,
    idempotencyKey: request.headers.idempotencyKey,
    requestId: call.requestId,
    traceparent: call.traceparent,
    connection: request.connection,
  };
}
