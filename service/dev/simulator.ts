import { join } from 'node:path';
import { replaceClientCurve } from '../../actors/sessions/worker-thread/keys/client-curve.ts';
import { systemClock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/described-error.ts';
import { sameArrays } from '../../simulator/handsets/same-arrays.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { simulatorEnvironment } from '../environment.ts';
import { makeDataDirectory } from './data-directory.ts';
import { lockFile } from './file-lock.ts';

/** Private keys kept in memory, about a kilobyte each: three of each handset, three of each open chat. */
const PRIVATE_KEYS_KEPT = 20_000;

/** Starts the simulated chat network alone, prints its address, and ends it on a signal. */
async function main(): Promise<void> {
  const { host, port, mediaPort, dataDirectory } = simulatorEnvironment();
  // Its handsets open and seal with the client's own code, as often as all the sessions that write to them together.
  replaceClientCurve(sameArrays(PRIVATE_KEYS_KEPT));
  makeDataDirectory(dataDirectory);
  // Two simulators would each write to a journal that the other has replaced.
  if ((await lockFile(join(dataDirectory, 'simulator.lock'), { waitSeconds: 2 })) === undefined)
    throw new Error(`Another simulator is running on ${dataDirectory}; set DATA_DIR to another folder.`);
  const simulator = await startSimulator({
    host,
    port,
    mediaPort,
    dataDir: dataDirectory,
    clock: systemClock,
  });
  process.stdout.write(`${JSON.stringify({ ready: true, simulator: simulator.url })}\n`);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => void simulator.close().then(() => process.exit(0)));
}

main().catch((error: unknown) => {
  console.error(`bin/simulator: ${messageOf(error)}`);
  process.exit(1);
});
