import { MemorySessionHost } from '../../actors/session/memory-session-host.ts';
import { startService, stopService } from '../../bin/compose-service.ts';
import { serviceEnvironment } from '../../bin/environment.ts';
import { createLogger } from '../../http/log.ts';
import { systemClock as clock } from '../../runtime/clock.ts';

// A node as bin/service.ts composes it, with the sending component in memory: every shop is paired and warm.
const WARM_MS = 20 * 24 * 3_600_000;

const environment = serviceEnvironment();
const log = createLogger({ level: environment.logLevel });
const service = await startService({
  environment,
  log,
  startHost: (_node, listener) =>
    new MemorySessionHost({ clock, listener, behaviour: { paired: true, pairedAgoMs: WARM_MS } }),
  onLost: () => process.exit(1),
});
process.on('SIGTERM', () => {
  void stopService(service).finally(() => process.exit(0));
});
const { apiUrl, adminUrl } = service.http;
process.stdout.write(`${JSON.stringify({ ready: true, api: apiUrl, admin: adminUrl })}\n`);
