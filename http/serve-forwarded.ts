import type { Logger } from '../runtime/logger.ts';
import { RuntimeFailure } from '../runtime/runtime-failure.ts';
import { CallerConnection } from './contract/caller-connection.ts';
import type { Endpoint } from './contract/endpoint.ts';
import type { CallWait } from './contract/waiting.ts';
import { localActors } from './operator-api/fleet/actor-list.ts';
import type { OperatorServices } from './operator-api/services.ts';
import { decodeForwarded, encodeOwnerReply, type NodeRequest } from './owner/forwarded-form.ts';
import type { OwnerReply } from './owner/owner-reply.ts';
import { type ServingOptions, serveAsOwner, type TenantRequest } from './owner/serve-as-owner.ts';
import { serveOperator } from './owner/serve-operator.ts';
import type { ApiServices } from './tenant-api/services.ts';

export interface ServeForwardedOptions {
  readonly api: { readonly endpoints: readonly Endpoint<ApiServices>[]; readonly services: ApiServices };
  readonly operator: {
    readonly endpoints: readonly Endpoint<OperatorServices>[];
    readonly services: OperatorServices;
  };
  readonly serving: ServingOptions;
}

/**
 * Returns a function that serves a request of another node, and returns the reply in the form that node reads. Rejects
 * with `STORE_UNAVAILABLE` if only another release has the kind of the request or its endpoint. Nothing was done then.
 */
export function serveForwarded(options: ServeForwardedOptions): (payload: string) => Promise<string> {
  const apiEndpoints = byName(options.api.endpoints);
  const operatorEndpoints = byName(options.operator.endpoints);
  const unknownRequests = new UnknownRequests(options.serving.log);
  /** Callers at other nodes whose calls may take long here, by `waitId`. */
  const waitingCallers = new Map<string, CallerConnection>();

  function endpointOf<Services>(
    endpoints: Map<string, Endpoint<Services>>,
    name: string,
  ): Endpoint<Services> {
    const endpoint = endpoints.get(name);
    if (endpoint === undefined) throw unknownRequests.failureOf(name);
    return endpoint;
  }

  async function serveApi({ method, path, request, waitId }: NodeRequest & { kind: 'api' }): Promise<string> {
    const endpoint = endpointOf(apiEndpoints, `${method} ${path}`);
    const connection = waitId === undefined ? undefined : new CallerConnection();
    if (waitId !== undefined && connection !== undefined) waitingCallers.set(waitId, connection);
    try {
      return encodeOwnerReply(await serveToTheEnd(endpoint, { ...request, connection }));
    } finally {
      if (waitId !== undefined) waitingCallers.delete(waitId);
    }
  }

  /** Serves a call and lets it wait here. The other node waits for the final reply. */
  async function serveToTheEnd(endpoint: Endpoint<ApiServices>, request: TenantRequest): Promise<OwnerReply> {
    const { services } = options.api;
    let reply = await serveAsOwner(endpoint, request, services, options.serving);
    while (reply.wait !== undefined) {
      const { wait, ...soFar } = reply;
      await waitEnded(wait, request.connection);
      const repeatedRequest = { ...request, isContinued: true, wait };
      reply = await serveAsOwner(endpoint, repeatedRequest, services, options.serving);
      if (reply.wait === undefined) wait.leave();
      // The next owner would let the call wait for its whole time once more.
      if (reply.hasMoved) return soFar;
    }
    return reply;
  }

  async function serve(nodeRequest: NodeRequest): Promise<string> {
    const { services } = options.operator;
    switch (nodeRequest.kind) {
      case 'api':
        return serveApi(nodeRequest);
      case 'gone':
        waitingCallers.get(nodeRequest.waitId)?.leave();
        return '';
      case 'operator': {
        const endpoint = endpointOf(operatorEndpoints, `${nodeRequest.method} ${nodeRequest.path}`);
        return encodeOwnerReply(await serveOperator(endpoint, nodeRequest.parts, services, options.serving));
      }
      case 'actors':
        return JSON.stringify(await localActors(services.ownNode, nodeRequest.query));
      case 'overview':
        return JSON.stringify(await services.nodeShare());
      case 'resume_all':
        return JSON.stringify(await services.ownNode.resumeSuspended(nodeRequest.filter));
      case 'events':
        return services.eventsSince(nodeRequest.since);
      default:
        throw unknownRequests.failureOf(`kind ${kindOf(nodeRequest)}`);
    }
  }

  return (payload) => serve(decodeForwarded(payload));
}

/** Resolves when the wait has ended. It ends early if the caller disconnects. */
async function waitEnded(wait: CallWait, connection: CallerConnection | undefined): Promise<void> {
  const unwatch = connection?.onGone(() => wait.end());
  await new Promise<void>((resolve) => wait.whenWoken(resolve, undefined));
  unwatch?.();
}

function byName<Services>(endpoints: readonly Endpoint<Services>[]): Map<string, Endpoint<Services>> {
  return new Map(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
}

/** Returns a kind that only another release has. */
function kindOf(nodeRequest: never): string {
  const { kind } = nodeRequest as { readonly kind: unknown };
  return String(kind);
}

/**
 * The seconds after which a caller may try again. An update takes longer, but our client repeats a call for a minute
 * only.
 */
const RETRY_AFTER_SECONDS = 3;

/** The requests of other nodes that only another release knows. */
class UnknownRequests {
  readonly #log: Logger;
  readonly #loggedNames = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Returns the failure that the other node gets. Logs each name once, since a node that was left on an old release
   * has no other line in the log.
   */
  failureOf(name: string): RuntimeFailure {
    if (!this.#loggedNames.has(name)) {
      this.#loggedNames.add(name);
      this.#log.warn({ request: name }, 'a request of another node is unknown to this release');
    }
    // With `SHARD_NOT_OWNED` the other node would wait for the next owner, but this node still owns the tenant. A code
    // of its own would be unknown to the nodes of 0.2.0.
    return new RuntimeFailure(
      'STORE_UNAVAILABLE',
      `another node handed over a request unknown here: ${name}`,
      RETRY_AFTER_SECONDS,
    );
  }
}
