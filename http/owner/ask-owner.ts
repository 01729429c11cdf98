import type { Counts } from '../../runtime/counts.ts';
import type { Random } from '../../runtime/random.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import type { CallsInProgress } from '../pipeline/calls-in-progress.ts';
import type { FollowedRequest } from './follow-owner.ts';
import { forwardToOwner } from './forward-to-owner.ts';
import { encodeForwarded, type NodeRequest } from './forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from './forwarder.ts';
import type { OwnerReply } from './owner-reply.ts';
import { type ServingOptions, serveAsOwner, type TenantRequest } from './serve-as-owner.ts';
import type { WaitsElsewhere } from './waits-elsewhere.ts';

export interface AskOwnerOptions<Services> {
  readonly services: Services;
  readonly serving: ServingOptions;
  readonly forwarder: Forwarder;
  readonly follow: (request: FollowedRequest) => Promise<OwnerReply>;
  readonly random: Random;
  /** The listener's calls in progress. */
  readonly inProgress: CallsInProgress;
  /** The calls in progress of each tenant, so that one tenant cannot use all slots. A waiting call is not counted. */
  readonly callsOfTenants: Counts;
  readonly waitsElsewhere: WaitsElsewhere;
}

/**
 * Asks the tenant's owner, which may be this node. While the tenant moves, asks the next owner as soon as this node
 * knows it. Rejects only by a defect.
 */
export function askOwner<Services>(
  endpoint: Endpoint<Services>,
  request: TenantRequest,
  options: AskOwnerOptions<Services>,
): Promise<OwnerReply> {
  return options.follow({ tenantId: request.tenantId, ask: asking(endpoint, request, options) });
}

/** Asks the next owner of a tenant that this node owned. `reply`: this node's own. Rejects only by a defect. */
export function askNextOwner<Services>(
  endpoint: Endpoint<Services>,
  request: TenantRequest,
  reply: OwnerReply,
  options: AskOwnerOptions<Services>,
): Promise<OwnerReply> {
  const { tenantId } = request;
  const { forwarder, follow } = options;
  const ownership = forwarder.ownerIsLocal(tenantId) ? forwarder.ownership(tenantId) : undefined;
  return follow({ tenantId, refused: { ownership, reply }, ask: asking(endpoint, request, options) });
}

/** Returns a function that asks the owner of the moment, which may have become this node. */
function asking<Services>(
  endpoint: Endpoint<Services>,
  request: TenantRequest,
  options: AskOwnerOptions<Services>,
): FollowedRequest['ask'] {
  const { forwarder, services, serving, random, inProgress } = options;
  const { method, path, waits, forwardTimeoutMs } = endpoint;
  const { tenantId } = request;
  const mostWaitMs = waits?.mostMs(request.query) ?? 0;
  const timeoutMs = mostWaitMs + (forwardTimeoutMs ?? FORWARD_TIMEOUT_MS);
  const mayTakeLong = waits !== undefined || forwardTimeoutMs !== undefined;
  // The next page of an open stream was in progress only during its admission.
  const leavesProgress = mostWaitMs > 0 && request.isContinued !== true;
  return (spentMs) => {
    if (forwarder.ownerIsLocal(tenantId)) return serveAsOwner(endpoint, request, services, serving);
    if (waits !== undefined && mostWaitMs > 0 && inProgress.waiting >= waits.mostCalls)
      return { reply: errorReply(waits.noRoom), keyId: undefined };
    const { connection, wait: _, ...sentRequest } = request;
    const waitId = mayTakeLong && connection ? `${request.requestId} ${random()}` : undefined;
    const forwarded = { kind: 'api', method, path, request: sentRequest, waitId } as const;
    const leftMs = timeoutMs - spentMs;
    if (!mayTakeLong) return forwardToOwner(forwarder, tenantId, forwarded, leftMs);
    return forwardLongRequest({ connection, leavesProgress, forwarded, leftMs }, options);
  };
}

/** A request that may take long, on its way to the owner. */
interface LongRequest {
  readonly connection: TenantRequest['connection'];
  readonly leavesProgress: boolean;
  readonly forwarded: Extract<NodeRequest, { readonly kind: 'api' }>;
  readonly leftMs: number;
}

/** Forwards a request that may take long. It ends early if its caller disconnects, or if this node stops. */
async function forwardLongRequest(
  { connection, leavesProgress, forwarded, leftMs }: LongRequest,
  { forwarder, inProgress, callsOfTenants, waitsElsewhere }: AskOwnerOptions<unknown>,
): Promise<OwnerReply> {
  const { waitId } = forwarded;
  const { tenantId } = forwarded.request;
  // If this notification is lost, the call ends at its time limit.
  const notify = waitId === undefined ? undefined : () => void notifyGone(tenantId, waitId, forwarder);
  let unwatch: (() => void) | undefined;
  let forget: (() => void) | undefined;
  // A call that only waits leaves its slots to others.
  if (leavesProgress) {
    inProgress.leave();
    inProgress.beginWait();
    callsOfTenants.add(tenantId, -1);
  }
  try {
    const reply = forwardToOwner(forwarder, tenantId, forwarded, leftMs);
    // The owner must get the call before a notification. If the caller is gone or this node stops already, these two
    // lines notify the owner at once.
    unwatch = notify && connection?.onGone(notify);
    forget = notify && waitsElsewhere.add(notify);
    return await reply;
  } finally {
    if (leavesProgress) {
      inProgress.endWait();
      inProgress.enter();
      callsOfTenants.add(tenantId, 1);
    }
    unwatch?.();
    forget?.();
  }
}

async function notifyGone(tenantId: string, waitId: string, forwarder: Forwarder): Promise<void> {
  const payload = encodeForwarded({ kind: 'gone', waitId });
  await Promise.allSettled([forwarder.forward(tenantId, payload, FORWARD_TIMEOUT_MS)]);
}
