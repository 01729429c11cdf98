import type { Counts } from '../../runtime/counts.ts';
import type { Random } from '../../runtime/random.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { errorReply } from '../contract/envelope.ts';
import { failureOfThrown } from '../contract/errors.ts';
import type { Followed } from '../owner/follow-owner.ts';
import { decodeOwnerReply, encodeForwarded } from '../owner/forwarded-form.ts';
import { FORWARD_TIMEOUT_MS, type Forwarder } from '../owner/remote-owner.ts';
import {
  isOfMovedTenant,
  type OwnerReply,
  type ServingOptions,
  serveAsOwner,
  type TenantRequest,
} from '../owner/serve-as-owner.ts';
import type { CallsInProgress } from '../pipeline/calls-in-progress.ts';
import type { ApiServices } from './services.ts';
import type { WaitsElsewhere } from './waits-elsewhere.ts';

/** The ways to a tenant's owner, here or elsewhere, and what counts the calls on them. */
export interface OwnerWays {
  readonly services: ApiServices;
  readonly serving: ServingOptions;
  readonly forwarder: Forwarder;
  readonly follow: (call: Followed) => Promise<OwnerReply>;
  readonly random: Random;
  /** The listener's calls in progress. */
  readonly inProgress: CallsInProgress;
  /** The requests of each tenant in flight, so that one tenant cannot use all slots. A waiting call is not counted. */
  readonly inFlight: Counts;
  readonly waitsElsewhere: WaitsElsewhere;
}

/** Asks the owner of the moment, and the next one while the tenant moves. Never rejects. */
export function askOwner(
  endpoint: Endpoint<ApiServices>,
  request: TenantRequest,
  ways: OwnerWays,
): Promise<OwnerReply> {
  return ways.follow({ tenantId: request.tenantId, ask: asking(endpoint, request, ways) });
}

/** Finds the new owner of a tenant that is handed over: it is asked as soon as this node knows it. Never rejects. */
export function askNextOwner(
  endpoint: Endpoint<ApiServices>,
  request: TenantRequest,
  reply: OwnerReply,
  ways: OwnerWays,
): Promise<OwnerReply> {
  const { tenantId } = request;
  const { forwarder, follow } = ways;
  const ownership = forwarder.ownerIsLocal(tenantId) ? forwarder.ownership(tenantId) : undefined;
  return follow({ tenantId, refused: { ownership, reply }, ask: asking(endpoint, request, ways) });
}

/** Asks the owner of the moment, which may have become this node. */
function asking(endpoint: Endpoint<ApiServices>, request: TenantRequest, ways: OwnerWays): Followed['ask'] {
  const { forwarder, services, serving, random, inProgress, inFlight, waitsElsewhere } = ways;
  const { method, path, waits, forwardTimeoutMs } = endpoint;
  const { tenantId } = request;
  const waitMs = waits?.mostMs(request.query) ?? 0;
  const timeoutMs = waitMs + (forwardTimeoutMs ?? FORWARD_TIMEOUT_MS);
  const takesItsTime = waits !== undefined || forwardTimeoutMs !== undefined;
  // The next page of an open stream was in progress only during its admission.
  const leavesProgress = waitMs > 0 && request.isContinued !== true;
  return async (spentMs) => {
    if (forwarder.ownerIsLocal(tenantId)) return serveAsOwner(endpoint, request, services, serving);
    if (waits !== undefined && waitMs > 0 && inProgress.waiting >= waits.mostCalls) {
      return { reply: errorReply(waits.noRoom), keyId: undefined };
    }
    const { connection, wait: _, ...sent } = request;
    const waitId = takesItsTime && connection ? `${request.requestId} ${random()}` : undefined;
    // The waiting call's slot is free at once. An owner that gets no notice of it ends the wait at its time.
    const endWait = waitId === undefined ? undefined : () => void reportGone(tenantId, waitId, forwarder);
    let unwatch: (() => void) | undefined;
    let forget: (() => void) | undefined;
    if (leavesProgress) {
      inProgress.leave();
      inProgress.beginWait();
      inFlight.add(tenantId, -1);
    }
    try {
      const payload = encodeForwarded({ kind: 'api', method, path, request: sent, waitId });
      const answer = forwarder.forward(tenantId, payload, Math.max(1, timeoutMs - spentMs));
      // The owner must know a call before the wait ends, so this comes after the call was sent. If the caller has gone
      // or this node stops by now, the wait ends at once.
      unwatch = endWait && connection?.onGone(endWait);
      forget = endWait && waitsElsewhere.add(endWait);
      return decodeOwnerReply(await answer);
    } catch (thrown) {
      return { reply: errorReply(failureOfThrown(thrown)), keyId: undefined, moved: isOfMovedTenant(thrown) };
    } finally {
      if (leavesProgress) {
        inProgress.endWait();
        inProgress.enter();
        inFlight.add(tenantId, 1);
      }
      unwatch?.();
      forget?.();
    }
  };
}

async function reportGone(tenantId: string, waitId: string, forwarder: Forwarder): Promise<void> {
  const payload = encodeForwarded({ kind: 'gone', waitId });
  await Promise.allSettled([forwarder.forward(tenantId, payload, FORWARD_TIMEOUT_MS)]);
}
