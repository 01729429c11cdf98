import type { KeyDirectory } from '../actors/operator-operations.ts';
import type { Eventual } from '../runtime/eventual.ts';
import type { ApiServices } from './api-services.ts';
import type { Endpoint } from './endpoint.ts';
import { errorReply } from './envelope.ts';
import { failureOfThrown } from './errors.ts';
import type { RequestValue } from './exchange.ts';
import { decodeOwnedReply, encodeForwarded } from './forwarding.ts';
import { anonymous, type Front, type FrontReply, type Routed, routed } from './front.ts';
import { HOP_TIMEOUT_MS, type Hop } from './hop.ts';
import { answerAsOwner, type OwnedReply, type OwnedRequest, type OwnerOptions } from './owner.ts';
import { keyHash, presentedKey } from './presented-key.ts';
import type { Router } from './router.ts';

/** What the tenants' edge works with. */
export interface ApiFrontOptions {
  readonly router: Router<ApiServices>;
  readonly services: ApiServices;
  readonly owner: OwnerOptions;
  readonly keys: KeyDirectory;
  readonly hop: Hop;
}

/**
 * The tenants' edge: route, key → hash → tenant, then the owner, here or one hop away. The edge decides nothing
 * about a key but whose it is, so a revocation needs no broadcast (DESIGN: Ownership).
 */
export function createApiFront(options: ApiFrontOptions): Front {
  return (request) => {
    const target = routed(options.router, request);
    if (!target.found) return target.refused;
    const key = presentedKey(request.headers);
    if (key === undefined) return anonymous(errorReply({ code: 'API_KEY_MISSING' }), target.route);
    const hash = keyHash(key);
    if (hash === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), target.route);
    const tenantId = options.keys.tenantOfKey(hash);
    if (!(tenantId instanceof Promise)) return answerTenant(target, request, { tenantId, hash }, options);
    return tenantId.then(
      (found) => answerTenant(target, request, { tenantId: found, hash }, options),
      (thrown) => {
        options.owner.log.warn({ err: thrown, route: target.route }, 'a key could not be looked up');
        return anonymous(errorReply(failureOfThrown(thrown)), target.route);
      },
    );
  };
}

function answerTenant(
  { endpoint, values, route }: Extract<Routed<ApiServices>, { found: true }>,
  request: RequestValue,
  { tenantId, hash }: { readonly tenantId: string | undefined; readonly hash: string },
  options: ApiFrontOptions,
): Eventual<FrontReply> {
  if (tenantId === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), route);
  const owned = ownedRequest(request, { values, tenantId, keyHash: hash });
  const answered = answerByOwner(endpoint, owned, options);
  if (!(answered instanceof Promise)) {
    return { reply: answered.reply, route, tenantId, keyId: answered.keyId };
  }
  return answered.then(({ reply, keyId }) => ({ reply, route, tenantId, keyId }));
}

function ownedRequest(
  request: RequestValue,
  known: Pick<OwnedRequest, 'values' | 'tenantId' | 'keyHash'>,
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
  };
}

function answerByOwner(
  endpoint: Endpoint<ApiServices>,
  request: OwnedRequest,
  options: ApiFrontOptions,
): Eventual<OwnedReply> {
  const { hop, services, owner } = options;
  return hop.ownerIsLocal(request.tenantId)
    ? answerAsOwner(endpoint, request, services, owner)
    : answerElsewhere(endpoint, request, hop);
}

async function answerElsewhere(
  endpoint: Endpoint<ApiServices>,
  request: OwnedRequest,
  hop: Hop,
): Promise<OwnedReply> {
  const { method, path } = endpoint;
  try {
    const payload = encodeForwarded({ kind: 'api', method, path, request });
    const timeoutMs = endpoint.hopTimeoutMs ?? HOP_TIMEOUT_MS;
    return decodeOwnedReply(await hop.forward(request.tenantId, payload, timeoutMs));
  } catch (thrown) {
    return { reply: errorReply(failureOfThrown(thrown)), keyId: undefined };
  }
}
