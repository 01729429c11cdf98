import { checkAttachmentDirectory } from '../actors/sessions/attachment-files.ts';
import { type ArmedTimer, systemClock as clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/runtime-failure.ts';
import { type Service, startService, stopService } from './compose-service.ts';
import { EnvironmentError, serviceEnvironment } from './environment.ts';
import { makeLogger } from './process-log.ts';
import { startSessions } from './start-sessions.ts';

async function main(): Promise<void> {
  const environment = serviceEnvironment();
  const log = makeLogger({ level: environment.logLevel });
  let isEnding = false;
  const exit = (exitCode: number): never => {
    log.flush();
    process.exit(exitCode);
  };
  const beginEnd = (exitCode: number): void => {
    isEnding = true;
    // A stop that hangs must not keep the process: its caller waits 10 s.
    clock.after(9_500, () => exit(exitCode || 1));
  };
  const end = (service: Service | undefined, exitCode: number): void => {
    if (isEnding) return;
    beginEnd(exitCode);
    Promise.resolve(service && stopService(service)).then(
      () => exit(exitCode),
      (error: unknown) => {
        log.error({ err: error }, 'the stop was not clean');
        exit(1);
      },
    );
  };
  let runningService: Service | undefined;
  const start = new AbortController();
  const isAborted = (error: unknown): boolean => start.signal.aborted && error === start.signal.reason;
  let isWithdrawn = false;
  let delay: ArmedTimer | undefined;
  // Load balancers poll /readyz every few seconds, and send callers here until they have seen its 503.
  const endOnSignal = (): void => {
    // A second signal means that the load balancers had enough time.
    if (isWithdrawn) {
      if (delay === undefined) return;
      delay.cancel();
      end(runningService, 0);
      return;
    }
    isWithdrawn = true;
    if (runningService === undefined) {
      // A start that failed ends with its own exit code.
      if (isEnding) return;
      beginEnd(0);
      start.abort();
      return;
    }
    if (environment.shutdownDelayMs === 0) {
      end(runningService, 0);
      return;
    }
    runningService.withdraw();
    log.info(
      { shutdownDelayMs: environment.shutdownDelayMs },
      'a signal asked the service to stop: it is not ready from now on',
    );
    delay = clock.after(environment.shutdownDelayMs, () => end(runningService, 0));
  };
  // Before the start: as process 1 of a container, Node is not ended by a signal that it does not listen to.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, endOnSignal);
  await checkAttachmentDirectory();
  const service = await startService({
    environment,
    log,
    startHost: (node, listener) => startSessions({ environment, node, log, listener }),
    onLost() {
      log.error({ nodeId: environment.nodeId }, 'another process runs under this node id: this one ends');
      end(runningService, 1);
    },
    // The parts that have started stop now. Meanwhile a signal must not end the process with 0.
    onFailed(error) {
      if (isAborted(error)) return;
      reportFailure(error);
      beginEnd(1);
    },
    signal: start.signal,
  }).catch((error: unknown) => exit(isAborted(error) ? 0 : 1));
  runningService = service;
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
