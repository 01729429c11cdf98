import { cursorOf } from '../../actors/tenant/event-cursor.ts';
import { MOST_EVENT_WAITS, NO_ROOM_TO_WAIT } from '../../actors/tenant/event-waiters.ts';
import type { KeyDirectory } from '../../actors/tenant/tenant-view.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MaybePromise } from '../../runtime/maybe-promise.ts';
import type { Random } from '../../runtime/random.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { CallWait, RequestValue } from '../contract/exchange.ts';
import { parameterName } from '../contract/query-parameters.ts';
import {
  answerAsOwner,
  type OwnedReply,
  type OwnedRequest,
  type OwnerOptions,
  tellsOfMove,
} from '../owner/answer-as-owner.ts';
import { type Followed, ownerFollower } from '../owner/follow-owner.ts';
import { decodeOwnedReply, encodeForwarded } from '../owner/forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from '../owner/remote-owner.ts';
import type { CallsInHand } from '../pipeline/calls-in-hand.ts';
import {
  anonymous,
  type BodyPolicy,
  type CallMarks,
  type Front,
  type FrontReply,
  isRead,
  type Routed,
  routed,
} from '../pipeline/front.ts';
import { keyHash, presentedKey } from '../pipeline/presented-key.ts';
import type { Router } from '../pipeline/router.ts';
import type { EventReaders, StreamAsked } from './event-readers.ts';
import type { ApiServices } from './services.ts';
import { TenantSlots } from './tenant-slots.ts';
import type { WaitsElsewhere } from './waits-elsewhere.ts';

/** The router, the key look-up, the owner's part and the ways to other nodes that the tenants' edge uses. */
export interface ApiFrontOptions {
  readonly router: Router<ApiServices>;
  readonly services: ApiServices;
  readonly owner: OwnerOptions;
  readonly keys: KeyDirectory;
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly random: Random;
  readonly eventReaders: EventReaders;
  readonly waitsElsewhere: WaitsElsewhere;
  /** What the listener has in hand. */
  readonly inHand: CallsInHand;
  /** Requests of one tenant in hand at a time; what is more is refused OVERLOADED. */
  readonly maxInFlightPerTenant: number;
}

/** The options of the edge, with the follower of requests whose tenant moves and the slots of each tenant. */
interface Edge extends ApiFrontOptions {
  readonly follow: (call: Followed) => Promise<OwnedReply>;
  readonly slots: TenantSlots;
}

/**
 * The tenants' edge: route, key → hash → tenant, then the owner, here or on another node. The edge decides nothing
 * about a key but whose it is, so a revocation needs no broadcast (runtime/README.md, How one writer is kept).
 */
export function createApiFront(parts: ApiFrontOptions): Front {
  const options: Edge = {
    ...parts,
    follow: ownerFollower(parts),
    slots: new TenantSlots(parts.maxInFlightPerTenant),
  };
  return (request, call) => {
    const target = routed(options.router, request);
    if (!target.found) return target.refused;
    const key = presentedKey(request.headers);
    if (key === undefined) return anonymous(errorReply({ code: 'API_KEY_MISSING' }), target.route);
    const hash = keyHash(key);
    if (hash === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), target.route);
    const tenantId = options.keys.tenantOfKey(hash);
    return tenantId instanceof Promise
      ? answerOnceFound(target, request, { tenantId, hash, call }, options)
      : answerTenant(target, request, { tenantId, hash, call }, options);
  };
}

/** The answer to a key that this node has to look up. */
function answerOnceFound(
  target: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<Promise<string | undefined>>,
  edge: Edge,
): Promise<FrontReply> {
  return tenantId.then(
    (found) => answerTenant(target, request, { tenantId: found, hash, call }, edge),
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
    headDecides: (head) => !routed(router, head).found || isRead(head.method) || hashOf(head) === undefined,
    accountOf: (head) => keys.tenantOfKey(hashOf(head) ?? ''),
  };
}

function hashOf({ headers }: RequestValue): string | undefined {
  const key = presentedKey(headers);
  return key === undefined ? undefined : keyHash(key);
}

/** The key of each request. */
interface Presented<TenantId> {
  readonly tenantId: TenantId;
  readonly hash: string;
  readonly call: CallMarks;
}

/** Within the tenant's share of the slots; an answer that is there at once takes none. */
function answerTenant(
  target: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  presented: Presented<string | undefined>,
  edge: Edge,
): MaybePromise<FrontReply> {
  const { route } = target;
  const { tenantId, hash, call } = presented;
  if (tenantId === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), route);
  // A call that waited was admitted before.
  if (call.wait === undefined && edge.slots.isFull(tenantId)) {
    const message = 'Too many calls of this account are being answered; try again shortly.';
    return { reply: errorReply({ code: 'OVERLOADED', message }), route, tenantId, keyId: undefined };
  }
  const known = { tenantId, hash, call };
  const { isFollowed } = target.endpoint;
  return isFollowed && request.headers.takesEvents && request.method === 'GET'
    ? held(openStream(target, request, known, edge), { route, tenantId }, edge.slots)
    : answerKnown(target, request, known, edge);
}

function answerKnown(
  { endpoint, values, route }: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<string>,
  edge: Edge,
): MaybePromise<FrontReply> {
  const { slots, forwarder, services, owner } = edge;
  const asked = ownedRequest(request, { values, tenantId, keyHash: hash, call });
  const owned = call.wait === undefined ? asked : continued(asked, call.wait);
  if (!forwarder.ownerIsLocal(tenantId)) {
    return held(answerElsewhere(endpoint, owned, edge), { route, tenantId }, slots);
  }
  const answered = answerAsOwner(endpoint, owned, services, owner);
  if (answered instanceof Promise) {
    return answerInTime({ endpoint, route }, owned, answered, edge);
  }
  if (!answered.moved) return frontReply(answered, route, tenantId);
  return held(answerAfterMove(endpoint, owned, answered, edge), { route, tenantId }, slots);
}

/*
 * What waits is in functions of its own: a function that makes a closure for it pays for that in each call, also where
 * nothing waits.
 */

/** An answer that another node gives or that stays open, in a slot of the tenant. */
function held(
  answered: Promise<OwnedReply>,
  { route, tenantId }: { readonly route: string; readonly tenantId: string },
  slots: TenantSlots,
): Promise<FrontReply> {
  return slots.hold(tenantId, answered, (known) => frontReply(known, route, tenantId));
}

/** The answer of this node, in a slot of the tenant, or that of the next owner when the tenant moved meanwhile. */
function answerInTime(
  { endpoint, route }: Pick<Extract<Routed<ApiServices>, { found: true }>, 'endpoint' | 'route'>,
  owned: OwnedRequest,
  answered: Promise<OwnedReply>,
  edge: Edge,
): Promise<FrontReply> {
  const { tenantId } = owned;
  const told = (reply: OwnedReply): FrontReply => frontReply(reply, route, tenantId);
  return edge.slots.hold(tenantId, answered, (known) =>
    known.moved ? answerAfterMove(endpoint, owned, known, edge).then(told) : told(known),
  );
}

/** A call that waited, as it goes on: if its tenant has moved meanwhile, the next owner is asked for what there is by now. */
function continued(request: OwnedRequest, wait: CallWait): OwnedRequest {
  const query = placedQuery(request.query, cursorOf(wait.place), 0);
  return { ...request, query, isContinued: true, wait };
}

/** Pages of the endpoint one after another, as a reply that stays open; the first one is the call, and is counted. */
async function openStream(
  { endpoint, values }: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash, call }: Presented<string>,
  edge: Edge,
): Promise<OwnedReply> {
  const query = placedQuery(largestPages(request.query), request.headers.lastEventId, 0);
  const owned = ownedRequest({ ...request, query }, { values, tenantId, keyHash: hash, call });
  const first = await answerElsewhere(endpoint, owned, edge);
  return edge.eventReaders.open(first, new NextPages(endpoint, owned, edge));
}

/** The pages of a stream behind its first one. */
class NextPages implements StreamAsked {
  readonly #endpoint: Endpoint<ApiServices>;
  readonly #first: OwnedRequest;
  readonly #edge: Edge;

  constructor(endpoint: Endpoint<ApiServices>, first: OwnedRequest, edge: Edge) {
    this.#endpoint = endpoint;
    this.#first = first;
    this.#edge = edge;
  }

  get tenantId(): string {
    return this.#first.tenantId;
  }

  next(cursor: string, waitMs: number, wait: CallWait | undefined): Promise<OwnedReply> {
    const query = placedQuery(this.#first.query, cursor, waitMs);
    const asked = { ...this.#first, query, isContinued: true, wait };
    return answerElsewhere(this.#endpoint, asked, this.#edge);
  }
}

/** The largest page, since a stream gets them one at a time. */
const STREAM_PAGE = '100';

function largestPages(query: string): string {
  return [...without(query, ['limit']), `limit=${STREAM_PAGE}`].join('&');
}

/** A query with another place and wait in it. A place that is empty stays the query's. */
function placedQuery(query: string, place: string, waitMs: number): string {
  const own = without(query, place === '' ? ['waitMs'] : ['waitMs', 'cursor']);
  const cursor = place === '' ? [] : [`cursor=${encodeURIComponent(place)}`];
  return [...own, ...cursor, `waitMs=${waitMs}`].join('&');
}

function without(query: string, names: readonly string[]): string[] {
  return query.split('&').filter((pair) => !names.includes(parameterName(pair) ?? ''));
}

/** The tenant of a call. This node may remember a key that its tenant has no more, or whose tenant was erased. */
function frontReply({ reply, keyId, wait }: OwnedReply, route: string, tenantId: string): FrontReply {
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

/** Follows a tenant that was here and is handed over: its next owner is asked as soon as this node knows it. */
function answerAfterMove(
  endpoint: Endpoint<ApiServices>,
  request: OwnedRequest,
  reply: OwnedReply,
  edge: Edge,
): Promise<OwnedReply> {
  const { tenantId } = request;
  const { forwarder, follow } = edge;
  const ownership = forwarder.ownerIsLocal(tenantId) ? forwarder.ownership(tenantId) : undefined;
  return follow({ tenantId, refused: { ownership, reply }, ask: asking(endpoint, request, edge) });
}

function answerElsewhere(
  endpoint: Endpoint<ApiServices>,
  request: OwnedRequest,
  edge: Edge,
): Promise<OwnedReply> {
  return edge.follow({ tenantId: request.tenantId, ask: asking(endpoint, request, edge) });
}

/** Asks the owner of the moment, which may have become this node. */
function asking(endpoint: Endpoint<ApiServices>, request: OwnedRequest, edge: Edge): Followed['ask'] {
  const { forwarder, services, owner, random, inHand, slots, waitsElsewhere } = edge;
  const { method, path, isFollowed, forwardTimeoutMs } = endpoint;
  const { tenantId } = request;
  const timeoutMs = forwardTimeoutMs?.(request.query) ?? FORWARD_TIMEOUT_MS;
  // An open stream was in hand only until its first page.
  const leavesHand = isFollowed && timeoutMs > FORWARD_TIMEOUT_MS && request.isContinued !== true;
  return async (spentMs) => {
    if (forwarder.ownerIsLocal(tenantId)) return answerAsOwner(endpoint, request, services, owner);
    const { connection, wait: _, ...sent } = request;
    const onlyWaits = isFollowed && timeoutMs > FORWARD_TIMEOUT_MS;
    if (onlyWaits && inHand.waiting >= MOST_EVENT_WAITS.node)
      return { reply: errorReply(NO_ROOM_TO_WAIT), keyId: undefined };
    const waitId = forwardTimeoutMs && connection && `${request.requestId} ${random()}`;
    // The place where the call waits is free at once; an owner that does not hear of it ends the wait in its time.
    const endWait = waitId === undefined ? undefined : () => void tellGone(tenantId, waitId, edge);
    const stay = endWait && connection?.onGone(endWait);
    let forget: (() => void) | undefined;
    if (leavesHand) {
      inHand.leave();
      inHand.beginWait();
      slots.waits(tenantId, true);
    }
    try {
      const payload = encodeForwarded({ kind: 'api', method, path, request: sent, waitId });
      const answer = forwarder.forward(tenantId, payload, Math.max(1, timeoutMs - spentMs));
      // Behind the call itself, which the owner has to know first.
      forget = endWait && waitsElsewhere.add(endWait);
      return decodeOwnedReply(await answer);
    } catch (thrown) {
      return { reply: errorReply(failureOfThrown(thrown)), keyId: undefined, moved: tellsOfMove(thrown) };
    } finally {
      if (leavesHand) {
        inHand.endWait();
        inHand.enter();
        slots.waits(tenantId, false);
      }
      stay?.();
      forget?.();
    }
  };
}

async function tellGone(tenantId: string, waitId: string, { forwarder }: Edge): Promise<void> {
  const payload = encodeForwarded({ kind: 'gone', waitId });
  await Promise.allSettled([forwarder.forward(tenantId, payload, FORWARD_TIMEOUT_MS)]);
}
