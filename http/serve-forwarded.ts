import { CallerConnection } from './contract/caller-connection.ts';
import type { Endpoint } from './contract/endpoint.ts';
import type { CallWait } from './contract/waiting.ts';
import { localActors } from './operator-api/actor-list.ts';
import type { OperatorServices } from './operator-api/services.ts';
import { decodeForwarded, encodeOwnerReply, type Forwarded } from './owner/forwarded-form.ts';
import {
  type OwnerReply,
  type ServingOptions,
  serveAsOwner,
  serveOperator,
  type TenantRequest,
} from './owner/serve-as-owner.ts';
import type { ApiServices } from './tenant-api/services.ts';

/** The endpoints and services that answer requests which other nodes received. */
export interface ForwardedRequestsOptions {
  readonly api: { readonly endpoints: readonly Endpoint<ApiServices>[]; readonly services: ApiServices };
  readonly operator: {
    readonly endpoints: readonly Endpoint<OperatorServices>[];
    readonly services: OperatorServices;
  };
  readonly serving: ServingOptions;
}

/** Runs a request that another node forwarded, and answers in the form that node reads. */
export function createForwardedRequests(
  options: ForwardedRequestsOptions,
): (payload: string) => Promise<string> {
  const apiEndpoints = byName(options.api.endpoints);
  const operatorEndpoints = byName(options.operator.endpoints);
  /** Callers at other nodes whose calls wait here. */
  const waiting = new Map<string, CallerConnection>();

  async function runApi({ method, path, request, waitId }: Forwarded & { kind: 'api' }): Promise<string> {
    const endpoint = known(apiEndpoints, `${method} ${path}`);
    const connection = waitId === undefined ? undefined : new CallerConnection();
    if (waitId !== undefined && connection !== undefined) waiting.set(waitId, connection);
    try {
      return encodeOwnerReply(await answerAfterWaits(endpoint, { ...request, connection }));
    } finally {
      if (waitId !== undefined) waiting.delete(waitId);
    }
  }

  /** The owner's reply, once it waits for no better one: the node that asked waits for it. */
  async function answerAfterWaits(
    endpoint: Endpoint<ApiServices>,
    request: TenantRequest,
  ): Promise<OwnerReply> {
    const { services } = options.api;
    let known = await serveAsOwner(endpoint, request, services, options.serving);
    while (known.wait !== undefined) {
      const { wait, ...soFar } = known;
      await woken(wait, request.connection);
      known = await serveAsOwner(
        endpoint,
        { ...request, isContinued: true, wait },
        services,
        options.serving,
      );
      if (known.wait === undefined) wait.leave();
      // Another owner would be asked to wait as long again.
      if (known.moved) return soFar;
    }
    return known;
  }

  async function run(forwarded: Forwarded): Promise<string> {
    if (forwarded.kind === 'api') return runApi(forwarded);
    if (forwarded.kind === 'gone') {
      waiting.get(forwarded.waitId)?.leave();
      return '';
    }
    if (forwarded.kind === 'actors') {
      return JSON.stringify(await localActors(options.operator.services.fleet, forwarded.query));
    }
    if (forwarded.kind === 'overview') return JSON.stringify(await options.operator.services.nodeShare());
    if (forwarded.kind === 'resume_all') {
      return JSON.stringify(await options.operator.services.fleet.resumeSuspended(forwarded.filter));
    }
    if (forwarded.kind === 'events') return options.operator.services.eventsSince(forwarded.since);
    const endpoint = known(operatorEndpoints, `${forwarded.method} ${forwarded.path}`);
    const { services } = options.operator;
    return encodeOwnerReply(await serveOperator(endpoint, forwarded.parts, services, options.serving));
  }

  return (payload) => run(decodeForwarded(payload));
}

/** Resolves when the wait has ended, or when the caller has disconnected. */
async function woken(wait: CallWait, connection: CallerConnection | undefined): Promise<void> {
  const stay = connection?.onGone(() => wait.end());
  await new Promise<void>((resolve) => wait.whenWoken(resolve, undefined));
  stay?.();
}

function byName<Services>(endpoints: readonly Endpoint<Services>[]): Map<string, Endpoint<Services>> {
  return new Map(endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]));
}

function known<Services>(endpoints: Map<string, Endpoint<Services>>, name: string): Endpoint<Services> {
  const endpoint = endpoints.get(name);
  if (endpoint === undefined) throw new Error(`another node handed over an endpoint unknown here: ${name}`);
  return endpoint;
}
