import type { SessionHost } from '../../actors/sessions/session-host.ts';
import type { RunningHttp } from '../../http/start-http.ts';
import { startService, stopService } from '../../service/compose-service.ts';
import { serviceEnvironment } from '../../service/environment.ts';
import { makeLogger } from '../../service/process-log.ts';
import type { startSessions } from '../../service/start-sessions.ts';

/**
 * Starts a node as service/service.ts composes it, with the sending component that the function starts. SIGTERM stops
 * the node and ends the process.
 */
export async function startNode(
  startHost: (options: Parameters<typeof startSessions>[0]) => SessionHost,
): Promise<RunningHttp> {
  const environment = serviceEnvironment();
  const log = makeLogger({ level: environment.logLevel });
  const service = await startService({
    environment,
    log,
    startHost: (node, listener) => startHost({ environment, node, log, listener }),
    onLost: () => process.exit(1),
  });
  process.on('SIGTERM', () => {
    void stopService(service).finally(() => process.exit(0));
  });
  return service.http;
}

/** Prints the line by which a bench learns that the node takes requests, and at which addresses. */
export function announceNode({ apiUrl, adminUrl }: RunningHttp, look?: string): void {
  process.stdout.write(`${JSON.stringify({ ready: true, api: apiUrl, admin: adminUrl, look })}\n`);
}
