import type { KeyDirectory } from '../../actors/tenants/tenant-view.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Counts } from '../../runtime/counts.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import { rememberLast } from '../../runtime/memoize.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { RequestValue } from '../contract/exchange.ts';
import type { CallWait } from '../contract/waiting.ts';
import { answerAsOwner, type OwnedReply, type OwnedRequest } from '../owner/answer-as-owner.ts';
import { ownerFollower } from '../owner/follow-owner.ts';
import {
  anonymous,
  type BodyPolicy,
  type CallMarks,
  type EdgeHandler,
  type EdgeReply,
  isRead,
  type Routed,
  routed,
} from '../pipeline/front.ts';
import { presentedHash, presentedKey } from '../pipeline/presented-key.ts';
import type { Router } from '../pipeline/router.ts';
import { askNextOwner, askOwner, type OwnerWays } from './ask-owner.ts';
import type { EventReaders } from './event-readers.ts';
import type { FileReplies } from './file-replies.ts';
import { openStream } from './followed-pages.ts';
import type { ApiServices } from './services.ts';

/** The router, the key look-up, the owner's part and the ways to other nodes that the tenants' edge uses. */
export interface ApiFrontOptions extends Omit<OwnerWays, 'follow' | 'inFlight'> {
  readonly router: Router<ApiServices>;
  readonly keys: KeyDirectory;
  readonly clock: Clock;
  readonly eventReaders: EventReaders;
  readonly files: FileReplies;
  /** Most calls of one tenant in progress. Further ones are refused OVERLOADED. */
  readonly maxInFlightPerTenant: number;
}

/** The options of the edge, with the follower of requests whose tenant moves and each tenant's requests in flight. */
interface Edge extends ApiFrontOptions, OwnerWays {}

/**
 * The tenants' edge: route, key → hash → tenant, then the owner, here or on another node. The edge decides nothing
 * about a key but whose it is, so a revocation needs no broadcast (runtime/README.md, How one writer is ensured).
 */
export function createApiFront(parts: ApiFrontOptions): EdgeHandler {
  const options: Edge = {
    ...parts,
    follow: ownerFollower(parts),
    inFlight: new Counts(),
  };
  return (request, call) => {
    const target = routed(options.router, request);
    if (!target.found) return target.refused;
    const hash = hashOf(request.headers);
    if (hash === undefined) {
      const code = presentedKey(request.headers) === undefined ? 'API_KEY_MISSING' : 'API_KEY_INVALID';
      return anonymous(errorReply({ code }), target.route);
    }
    const tenantId = options.keys.tenantOfKey(hash);
    if (tenantId instanceof Promise)
      return answerOnceFound(target, request, { tenantId, hash, call }, options);
    return tenantId === undefined
      ? unknownKey(target.route)
      : answerTenant(target, request, { tenantId, hash, call }, options);
  };
}

/** SHA-256 of the key that a call presents, in hex; undefined without a well-formed one. A call asks twice, for its head and for its answer. */
const hashOf = rememberLast(presentedHash);

function unknownKey(route: string): EdgeReply {
  return anonymous(errorReply({ code: 'API_KEY_INVALID' }), route);
}

/** The answer to a key that this node has to look up. */
function answerOnceFound(
  target: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<Promise<string | undefined>>,
  edge: Edge,
): Promise<EdgeReply> {
  return tenantId.then(
    (found) =>
      found === undefined
        ? unknownKey(target.route)
        : answerTenant(target, request, { tenantId: found, hash, call }, edge),
    (thrown) => {
      edge.owner.log.warn({ err: thrown, route: target.route }, 'a key could not be looked up');
      return anonymous(errorReply(failureOfThrown(thrown)), target.route);
    },
  );
}

/**
 * The tenants' bodies: nothing is kept of one without a well-formed key, and each counts on the tenant of its
 * key.
 */
export function apiBodies({ router, keys }: Pick<ApiFrontOptions, 'router' | 'keys'>): BodyPolicy {
  return {
    headDecides: ({ method, path, headers }) =>
      router.match(path)?.route.byMethod.has(method) !== true ||
      isRead(method) ||
      hashOf(headers) === undefined,
    accountOf: ({ headers }) => keys.tenantOfKey(hashOf(headers) ?? ''),
  };
}

/** The key of each request. */
interface Presented<TenantId> {
  readonly tenantId: TenantId;
  readonly hash: string;
  readonly call: CallMarks;
}

/** Answers within the tenant's share of the requests in flight. An answer that is there at once is not counted. */
function answerTenant(
  target: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  known: Presented<string>,
  edge: Edge,
): MaybePromise<EdgeReply> {
  const { route } = target;
  const { tenantId, hash, call } = known;
  // A call that waited was admitted before.
  if (call.wait === undefined && edge.inFlight.of(tenantId) >= edge.maxInFlightPerTenant) {
    const message = 'Too many calls of this account are being answered; try again shortly.';
    return { reply: errorReply({ code: 'OVERLOADED', message }), route, tenantId, keyId: undefined };
  }
  const { endpoint, values } = target;
  const { followed } = endpoint;
  const { takesEvents, lastEventId } = request.headers;
  if (endpoint.givesFile)
    return counted(answerFile(target, request, known, edge), { route, tenantId }, edge.inFlight);
  if (followed === undefined || !takesEvents || request.method !== 'GET') {
    return answerKnown(target, request, known, edge);
  }
  const first = ownedRequest(request, { values, tenantId, keyHash: hash, call });
  const opened = openStream({ endpoint, followed }, { request: first, place: lastEventId }, edge);
  return counted(opened, { route, tenantId }, edge.inFlight);
}

/** A file that the owner allows is fetched by this node, whichever node that is. */
async function answerFile(
  { endpoint, values }: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<string>,
  edge: Edge,
): Promise<OwnedReply> {
  const asked = ownedRequest(request, { values, tenantId, keyHash: hash, call });
  const answered = await askOwner(endpoint, asked, edge);
  const { file } = answered;
  if (file === undefined) return answered;
  const { connection } = request;
  return edge.files.reply({ ...answered, file }, { tenantId, isHead: request.method === 'HEAD', connection });
}

function answerKnown(
  target: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<string>,
  edge: Edge,
): MaybePromise<EdgeReply> {
  const { endpoint, values, route } = target;
  const { inFlight, forwarder, services, owner } = edge;
  const asked = ownedRequest(request, { values, tenantId, keyHash: hash, call });
  const owned = call.wait === undefined ? asked : continued(asked, endpoint, call.wait);
  if (!forwarder.ownerIsLocal(tenantId)) {
    return counted(askOwner(endpoint, owned, edge), { route, tenantId }, inFlight);
  }
  const answered = answerAsOwner(endpoint, owned, services, owner);
  if (answered instanceof Promise) {
    return answerInTime(target, owned, answered, edge);
  }
  if (!answered.moved) return frontReply(answered, route, tenantId);
  return counted(askNextOwner(endpoint, owned, answered, edge), { route, tenantId }, inFlight);
}

/*
 * Asynchronous parts are separate functions: a function that creates closures pays for them in each call, even if
 * nothing waits.
 */

/** Counts a request of the tenant until another node gives its answer, or until an open reply ends. */
function counted(
  answered: Promise<OwnedReply>,
  { route, tenantId }: { readonly route: string; readonly tenantId: string },
  inFlight: Counts,
): Promise<EdgeReply> {
  inFlight.add(tenantId, 1);
  return answered
    .finally(() => inFlight.add(tenantId, -1))
    .then((known) => frontReply(known, route, tenantId));
}

/** Counts a request of the tenant until its answer is there. Returns the answer of this node, or that of the next owner when the tenant moved meanwhile. */
function answerInTime(
  target: Extract<Routed<ApiServices>, { found: true }>,
  owned: OwnedRequest,
  answered: Promise<OwnedReply>,
  edge: Edge,
): Promise<EdgeReply> {
  edge.inFlight.add(owned.tenantId, 1);
  // It never rejects.
  return answered.then((known) => {
    edge.inFlight.add(owned.tenantId, -1);
    if (!known.moved) return frontReply(known, target.route, owned.tenantId);
    const { route, endpoint } = target;
    const place = { route, tenantId: owned.tenantId };
    return counted(askNextOwner(endpoint, owned, known, edge), place, edge.inFlight);
  });
}

/** A call that waited, as it goes on. */
function continued(asked: OwnedRequest, { waits }: Endpoint<ApiServices>, wait: CallWait): OwnedRequest {
  const query = waits?.continued(asked.query, wait) ?? asked.query;
  return { ...asked, query, isContinued: true, wait };
}

/** The tenant of a call. This node may remember a key that its tenant has no more, or whose tenant was erased. */
function frontReply({ reply, keyId, wait }: OwnedReply, route: string, tenantId: string): EdgeReply {
  if (keyId === undefined && reply.status === 401) return anonymous(reply, route);
  return { reply, route, tenantId, keyId, wait };
}

function ownedRequest(
  request: RequestValue,
  known: Pick<OwnedRequest, 'values' | 'tenantId' | 'keyHash'> & { readonly call: CallMarks },
): OwnedRequest {
  return {
    tenantId: known.tenantId,
    keyHash: known.keyHash,
    ip: request.ip,
    values: known.values,
    query: request.query,
    contentType: request.headers.contentType,
    body: request.body,
    bodyFault: request.bodyFault,
    idempotencyKey: request.headers.idempotencyKey,
    requestId: known.call.requestId,
    traceparent: known.call.traceparent,
    connection: request.connection,
  };
}
