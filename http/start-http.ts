import { API_BASE_PATH } from '../actors/base-path.ts';
import { apiListener } from './api-listener.ts';
import type { HttpOptions } from './http-options.ts';
import { exportListeners } from './metrics/listener-metrics.ts';
import { OPERATOR_BASE_PATH } from './operator-api/base-path.ts';
import { OPERATOR_ENDPOINTS } from './operator-api/endpoints.ts';
import { operatorListener } from './operator-listener.ts';
import { callerAddress } from './pipeline/caller-address.ts';
import { serveForwarded } from './serve-forwarded.ts';
import { sharedParts } from './shared-parts.ts';
import { BodyBudget } from './socket/body-budget.ts';
import { startServer } from './socket/server.ts';
import { API_ENDPOINTS } from './tenant-api/endpoints.ts';

/** Both listeners of a running node. */
export interface RunningHttp {
  readonly apiUrl: string;
  readonly adminUrl: string;
  /**
   * Refuses new connections of tenants, or accepts them from now on. Present connections stay. Operators may always
   * connect.
   */
  accept(isOpen: boolean): void;
  /** Serves a request that another node forwarded. */
  serveForwarded(payload: string): Promise<string>;
  /** Accepts no new connections, and answers the calls in progress for at most `graceMs`. */
  close(options: { readonly graceMs: number }): Promise<void>;
}

/** Starts the tenants' and the operators' listeners. Rejects if an address is not free. */
export async function startHttp(options: HttpOptions): Promise<RunningHttp> {
  const parts = sharedParts(options);
  const { serving, address } = parts;
  const api = apiListener(options, parts);
  const operator = operatorListener(options, parts);
  const bodies = new BodyBudget();
  exportListeners(options.metrics, {
    inProgress: () => api.inProgress.count + operator.inProgress.count,
    bodies,
    eventReaders: api.eventReaders,
    requestLog: options.requestLog,
  });

  const { host, port, adminHost, adminPort, trustedProxies } = options.settings;
  const caller = callerAddress(trustedProxies);
  const apiServer = await startServer({
    host,
    port,
    enter: api.enter,
    answer: api.answer,
    bodies,
    callerAddress: caller,
    eventsPath: `${API_BASE_PATH}/events`,
  });
  const adminServer = await startServer({
    host: adminHost,
    port: adminPort,
    enter: operator.enter,
    answer: operator.answer,
    bodies,
    callerAddress: caller,
    eventsPath: `${OPERATOR_BASE_PATH}/events`,
  }).catch(async (error: unknown) => {
    await apiServer.close(0);
    throw error;
  });
  const apiUrl = `http://${inUrl(host)}:${apiServer.port}`;
  if (address.publicUrl === '') address.publicUrl = apiUrl;

  return {
    apiUrl: apiUrl + API_BASE_PATH,
    adminUrl: `http://${inUrl(adminHost)}:${adminServer.port}`,
    accept: (isOpen) => apiServer.accept(isOpen),
    serveForwarded: serveForwarded({
      api: { endpoints: API_ENDPOINTS, services: api.services },
      operator: { endpoints: OPERATOR_ENDPOINTS, services: operator.services },
      serving,
    }),
    async close({ graceMs }) {
      operator.close();
      api.close();
      await Promise.all([apiServer.close(graceMs), adminServer.close(graceMs)]);
    },
  };
}

/**
 * Returns a host for a URL. A listener on every address is reached at the loopback one, and a v6 address is in
 * brackets.
 */
function inUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
