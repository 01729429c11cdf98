import { checkAttachmentDirectory } from '../actors/sessions/attachment-files.ts';
import { systemClock as clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/described-error.ts';
import { startService, stopService } from './compose-service.ts';
import { EnvironmentError, serviceEnvironment } from './environment.ts';
import { ProcessEnd } from './process-end.ts';
import { makeLogger } from './process-log.ts';
import { startSessions } from './start-sessions.ts';

async function main(): Promise<void> {
  const environment = serviceEnvironment();
  const log = makeLogger({ level: environment.logLevel });
  const { shutdownDelayMs, nodeId } = environment;
  const exit = (exitCode: number): never => {
    log.flush();
    process.exit(exitCode);
  };
  const end = new ProcessEnd({ clock, log, shutdownDelayMs, reportFailure, exit });
  // Before the start: as process 1 of a container, Node is not ended by a signal that it does not listen to.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end.onSignal());
  await checkAttachmentDirectory();
  const service = await startService({
    environment,
    log,
    startHost: (node, listener) => startSessions({ environment, node, log, listener }),
    onLost() {
      log.error({ nodeId }, 'another process runs under this node id: this one ends');
      end.onLost();
    },
    onFailed: (error) => end.onStartFailed(error),
    signal: end.startSignal,
  }).catch((error: unknown) => end.exitAfterStart(error));
  end.onStarted({ withdraw: () => service.withdraw(), stop: () => stopService(service) });
  const { apiUrl, adminUrl } = service.http;
  process.stdout.write(`${JSON.stringify({ ready: true, api: apiUrl, admin: adminUrl })}\n`);
}

function reportFailure(error: unknown): void {
  const message = messageOf(error);
  console.error(error instanceof EnvironmentError ? message : `The service could not start: ${message}`);
}

main().catch((error: unknown) => {
  reportFailure(error);
  process.exit(1);
});
