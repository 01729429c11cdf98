import { API_BASE_PATH } from '../../../actors/base-path.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { Counts } from '../../../runtime/counts.ts';
import { errorReply } from '../../contract/envelope.ts';
import type { RequestValue } from '../../contract/exchange.ts';
import { ownerFollower } from '../../owner/follow-owner.ts';
import {
  anonymous,
  bodyRefusal,
  type EdgeCall,
  refusedByHead,
  withoutEndpoint,
} from '../../pipeline/edge.ts';
import { hashOfKey, presentedKey } from '../../pipeline/presented-key.ts';
import { makeRouter } from '../../pipeline/router.ts';
import { API_ENDPOINTS } from '../endpoints.ts';
import { TenantCall, type TenantCallOptions } from './tenant-call.ts';

export interface TenantsEdgeOptions extends Omit<TenantCallOptions, 'follow' | 'callsOfTenants'> {
  readonly clock: Clock;
}

/**
 * Makes the tenants' edge: route, key → hash → tenant, then the owner, here or on another node. The edge only finds the
 * tenant of a key. The owner decides if the key is valid, so a revocation needs no broadcast (runtime/README.md, How
 * one writer is ensured).
 */
export function tenantsEdge(options: TenantsEdgeOptions): (request: RequestValue) => EdgeCall {
  const edge: TenantCallOptions = {
    ...options,
    follow: ownerFollower(options),
    callsOfTenants: new Counts(),
  };
  const matchOf = makeRouter(API_BASE_PATH, API_ENDPOINTS);
  return (request) => {
    const match = matchOf(request.path);
    const endpoint = match?.route.byMethod.get(request.method);
    if (match === undefined || endpoint === undefined) return withoutEndpoint(request, match);
    const key = presentedKey(request.headers);
    const keyHash = key === undefined ? undefined : hashOfKey(key);
    if (keyHash === undefined) {
      const code = key === undefined ? 'API_KEY_MISSING' : 'API_KEY_INVALID';
      return withoutKey(request, match.route.path, code);
    }
    return new TenantCall(request, { match, endpoint, keyHash }, edge);
  };
}

/** Returns a call without a well-formed key. */
function withoutKey(
  request: RequestValue,
  route: string,
  code: 'API_KEY_MISSING' | 'API_KEY_INVALID',
): EdgeCall {
  return refusedByHead(request, () => bodyRefusal(request, route) ?? anonymous(errorReply({ code }), route));
}
